/** How long a failed try waits. Exponential with "equal jitter": half fixed, half random, so that rows that failed together do not return together. */

/** First wait of a transient failure, in milliseconds; doubles with each failure. */
const BASE_MS = 1_000;
/** No transient wait is longer (ms). */
const CAP_MS = 60_000;
/** Waits for a service outside (ms): long enough not to hammer it, short enough that its return is noticed. */
const OUTAGE_BASE_MS = 5_000;
const OUTAGE_CAP_MS = 300_000;

/** @param failures so far (0 before the first retry). @param random in [0, 1). @returns milliseconds. */
export function retryDelayMs(failures: number, random = Math.random()): number {
  return jittered(BASE_MS, CAP_MS, failures, random);
}

/** @param outages consecutive failures of the service as the process has seen them. @param wishMs the service's Retry-After. */
export function outageDelayMs(outages: number, wishMs: number | undefined, random = Math.random()): number {
  const own = jittered(OUTAGE_BASE_MS, OUTAGE_CAP_MS, outages, random);
  return Math.min(OUTAGE_CAP_MS, Math.max(own, wishMs ?? 0));
}

function jittered(base: number, cap: number, failures: number, random: number): number {
  const full = Math.min(cap, base * 2 ** Math.min(failures, 30));
  return full / 2 + random * (full / 2);
}
