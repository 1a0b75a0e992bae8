/** graphile-worker 0.17 as a user would run it. "best" is the configuration of its own performance page: worker.graphile.org/docs/performance. */
import { Logger, run } from 'graphile-worker';
import { drainedCheck } from './drained.js';

const jobs = Number(process.env.BENCH_JOBS);
const slots = Number(process.env.BENCH_SLOTS);
const best = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

const check = await drainedCheck(process.env.BENCH_URL!, 'select exists (select 1 from graphile_worker._private_jobs) as open');

let finished = 0;
let drained: () => void;
const done = new Promise<void>((resolve) => { drained = resolve; });

const started = performance.now();
const startedCpu = process.cpuUsage();
const runner = await run({
  preset: { worker: { connectionString: process.env.BENCH_URL!, concurrentJobs: slots, maxPoolSize: slots + 1, logger: new Logger(() => () => {}), ...(process.env.BENCH_MODE === 'best' ? best : {}) } },
  taskList: { noop: async () => { if (++finished === jobs) drained(); } },
  noHandleSignals: true,
} as Parameters<typeof run>[0]);
await done;
await check.drained();
const ms = performance.now() - started;
const { user, system } = process.cpuUsage(startedCpu);
await runner.stop();
await check.close();
process.send!({ ms, cpuUs: user + system });
process.once('disconnect', () => process.exit(0));
