/**
 * The contract of every loop of a process: start, stop, runOnce. One run at a time; a failed run is logged and the loop goes on; stop waits
 * for the run in flight. Intervals are jittered so that processes started together do not act together.
 */
import type { Logger } from '../log.js';

export interface Loop {
  start(): void;
  /** Runs now, or joins a run that is under way. Rejects with what the run threw. */
  runOnce(): Promise<void>;
  stop(): Promise<void>;
}

export interface LoopOptions {
  name: string;
  everyMs: number;
  /** Share of the interval by which it varies, 0..1. */
  jitter: number;
  run: () => Promise<void>;
  log: Logger;
  /** After a failed run the next comes this soon (ms); default: the interval. */
  retryMs?: number;
}

export function createLoop({ name, everyMs, jitter, run, log, retryMs }: LoopOptions): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let stopped = true;

  function runOnce(): Promise<void> {
    running ??= run().finally(() => { running = undefined; });
    return running;
  }

  function schedule(waitMs: number): void {
    if (!stopped) timer = setTimeout(() => void tick(), waitMs * (1 + jitter * (Math.random() - 0.5)));
  }

  async function tick(): Promise<void> {
    try {
      await runOnce();
      schedule(everyMs);
    } catch (error) {
      log.warn({ event: 'loop_failed', loop: name, err: error }, `${name} failed and will run again`);
      schedule(Math.min(retryMs ?? everyMs, everyMs));
    }
  }

  return {
    start() {
      if (!stopped) return;
      stopped = false;
      schedule(everyMs);
    },
    runOnce,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running?.catch(() => {});
    },
  };
}
