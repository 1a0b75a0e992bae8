/**
 * Runs one task for many askers: never twice at once, at most one start an `intervalMs`, the first at once. Up to `spare` starts that
 * were not needed are kept for later, so that askers who keep the same pace themselves do not wait for it a second time. Whoever asks
 * while it runs gets another run, since the running one may have read before what they know of happened. The task must not reject.
 */
export interface Pace {
  /** A run that begins after this call, as soon as the pace allows. */
  ask(): void;
  /** The same without waiting for the pace; resolves when that run has ended. */
  now(): Promise<void>;
  /** No further runs; one that is under way goes on alone. */
  stop(): void;
}

export function createPace(task: () => Promise<void>, intervalMs: number, spare = 0): Pace {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let asked = false;
  let stopped = false;
  let dueAt = -Infinity;

  function start(): Promise<void> {
    if (stopped) return Promise.resolve();
    clearTimeout(timer);
    timer = undefined;
    asked = false;
    dueAt = Math.min(Math.max(dueAt, performance.now() - spare * intervalMs), performance.now()) + intervalMs;
    running = task().finally(() => {
      running = undefined;
      if (asked && !next) schedule();
    });
    return running;
  }

  function schedule(): void {
    timer ??= setTimeout(() => void start(), Math.max(0, dueAt - performance.now())).unref();
  }

  return {
    ask() {
      if (stopped) return;
      if (running) asked = true;
      else schedule();
    },
    now() {
      if (!running) return start();
      next ??= running.then(() => {
        next = undefined;
        return start();
      });
      return next;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
