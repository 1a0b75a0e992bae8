/** One timer an interval, however many ages and meters tick on the page. */
export interface Ticker {
  /** The clock as of the last tick: the same for everyone between two ticks. */
  value(intervalMs: number): number;
  subscribe(intervalMs: number, fn: () => void): () => void;
}

interface Beat {
  value: number;
  users: Set<() => void>;
  timer: number | undefined;
}

export function createTicker(now: () => number): Ticker {
  const beats = new Map<number, Beat>();

  function beatOf(intervalMs: number): Beat {
    const known = beats.get(intervalMs);
    if (known) return known;
    const beat: Beat = { value: now(), users: new Set(), timer: undefined };
    beats.set(intervalMs, beat);
    return beat;
  }

  function tick(beat: Beat): void {
    beat.value = now();
    for (const fn of [...beat.users]) fn();
  }

  return {
    value: (intervalMs) => beatOf(intervalMs).value,
    subscribe(intervalMs, fn) {
      const beat = beatOf(intervalMs);
      beat.users.add(fn);
      if (beat.timer === undefined) {
        beat.value = now(); // nobody has kept it up meanwhile
        beat.timer = window.setInterval(() => tick(beat), intervalMs);
      }
      return () => {
        beat.users.delete(fn);
        if (beat.users.size > 0) return;
        window.clearInterval(beat.timer);
        beat.timer = undefined;
      };
    },
  };
}
