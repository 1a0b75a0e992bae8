import { setTimeout as pause } from 'node:timers/promises';

/** Not measured: connections are opened, statements are planned. */
const WARM_UP = 20;
/** Between two (ms): it is idle again. */
const IDLE_MS = 60;

/** @returns for each of BENCH_JOBS jobs, one after the other, the time (ms) from before it is enqueued until its handler begins. */
export async function oneAtATime(enqueue: (begun: () => void) => Promise<unknown>): Promise<number[]> {
  const waits: number[] = [];
  for (let n = 0; n < WARM_UP + Number(process.env.BENCH_JOBS); n++) {
    await pause(IDLE_MS);
    const from = performance.now();
    let enqueued: Promise<unknown>;
    await new Promise<void>((resolve, reject) => {
      enqueued = enqueue(resolve);
      enqueued.catch(reject);
    });
    if (n >= WARM_UP) waits.push(performance.now() - from);
    await enqueued!;
  }
  return waits;
}
