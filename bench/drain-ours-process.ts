/** The worker process as it ships, with a handler that does nothing. Mode `attached`: a console watches. */
import { loadConfig, withDatabase } from '../server/config.js';
import { createPool } from '../server/db/connection.js';
import { createWorkerProcess } from '../server/worker/process.js';
import { benchQueue } from './drain-queue.js';
import { attachConsole } from './console-reader.js';
import { drainedCheck } from './drained.js';
import { benchLog } from './server.js';

const jobs = Number(process.env.BENCH_JOBS);
const config = withDatabase(loadConfig({ WORKER_CONCURRENCY: process.env.BENCH_SLOTS, APP_VERSION: 'bench', LOG_LEVEL: 'error' }), process.env.BENCH_URL!);
const pool = createPool(config, { role: 'worker', log: benchLog });
const reader = process.env.BENCH_MODE === 'attached' ? await attachConsole(config.databaseDirectUrl) : undefined;

const check = await drainedCheck(config.databaseUrl, `select exists (select 1 from bench_rows where state = 'queued') or exists (select 1 from bench_rows where state = 'running') as open`);

let finished = 0;
let drained: () => void;
const done = new Promise<void>((resolve) => { drained = resolve; });
const worker = createWorkerProcess({
  config, role: 'worker', pool, log: benchLog, registry: [benchQueue],
  handlers: { bench_rows: async () => { if (++finished === jobs) drained(); return { succeed: true }; } },
});

const started = performance.now();
const startedCpu = process.cpuUsage();
await worker.start();
await done;
await check.drained();
const ms = performance.now() - started;
const { user, system } = process.cpuUsage(startedCpu);
await worker.stop(5);
await check.close();
await reader?.detach();
await pool.end();
process.send!({ ms, cpuUs: user + system });
process.once('disconnect', () => process.exit(0));
