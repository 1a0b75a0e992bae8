/** How far back the samples go. */
const SAMPLES = 8;

export interface DatabaseClock {
  /** `serverNow` (database clock, ms) was just received. */
  hear(serverNow: number): void;
  /** The database clock now, in milliseconds since 1970. */
  now(): number;
  /** Database clock less the browser's own, null before the first sample. */
  offset(): number | null;
}

/**
 * Ticks with the browser's monotonic clock from what the server says the time is; the browser's own date plays no part. Each sample is late
 * by its time on the wire, so the latest-reading of the last few is the best.
 */
export function createDatabaseClock(startAt: number, monotonic: () => number = () => performance.now()): DatabaseClock {
  const first = startAt - monotonic();
  const samples: number[] = [];
  const offset = () => (samples.length === 0 ? null : Math.max(...samples));
  return {
    hear(serverNow) {
      samples.push(serverNow - monotonic());
      if (samples.length > SAMPLES) samples.shift();
    },
    now: () => monotonic() + (offset() ?? first),
    offset,
  };
}
