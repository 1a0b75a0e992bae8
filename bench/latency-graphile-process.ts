/** graphile-worker 0.17, idle but for one job at a time. */
import { Logger, run } from 'graphile-worker';
import { oneAtATime } from './latency-rounds.js';

let begun: () => void;
const runner = await run({
  preset: { worker: { connectionString: process.env.BENCH_URL!, concurrentJobs: Number(process.env.BENCH_SLOTS), maxPoolSize: Number(process.env.BENCH_SLOTS) + 1, logger: new Logger(() => () => {}) } },
  taskList: { noop: async () => { begun(); } },
  noHandleSignals: true,
} as Parameters<typeof run>[0]);
const waits = await oneAtATime((start) => {
  begun = start;
  return runner.addJob('noop', {});
});
await runner.stop();
process.send!({ waits });
process.once('disconnect', () => process.exit(0));
