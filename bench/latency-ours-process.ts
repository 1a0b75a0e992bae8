/** The worker process as it ships, idle but for one row at a time: how long from the enqueue to the handler (ms). */
import { v7 as uuidv7 } from 'uuid';
import { loadConfig, withDatabase } from '../server/config.js';
import { createPool } from '../server/db/connection.js';
import { enqueue } from '../server/lease/enqueue.js';
import { createWorkerProcess } from '../server/worker/process.js';
import { benchQueue } from './drain-queue.js';
import { oneAtATime } from './latency-rounds.js';
import { benchLog } from './server.js';

const config = withDatabase(loadConfig({ WORKER_CONCURRENCY: process.env.BENCH_SLOTS, APP_VERSION: 'bench', LOG_LEVEL: 'error' }), process.env.BENCH_URL!);
const pool = createPool(config, { role: 'worker', log: benchLog });
let begun: () => void;
const worker = createWorkerProcess({
  config, role: 'worker', pool, log: benchLog, registry: [benchQueue],
  handlers: { bench_rows: async () => { begun(); return { succeed: true }; } },
});
await worker.start();
const waits = await oneAtATime((start) => {
  begun = start;
  return enqueue(pool, benchQueue, { id: uuidv7(), columns: { user_id: 'u' } }, config);
});
await worker.stop(5);
await pool.end();
process.send!({ waits });
process.once('disconnect', () => process.exit(0));
