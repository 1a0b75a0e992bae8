/**
 * Asking a service outside. Promises: each try has its own time limit that also covers a body that never ends; a service that is away is
 * tried a few times with growing, jittered pauses; then the caller's fault is thrown, so that the engine can let the row wait.
 */
import { APICallError } from 'ai';
import { OutsideError } from '../lease/errors.js';
import { abortable, pause } from './abortable.js';

export interface CallPolicy {
  /** One try, to the last byte of its answer. */
  timeoutMs: number;
  tries: number;
  /** Pause after the first failed try; doubles each time, with jitter. */
  firstPauseMs: number;
}

/** Longer wishes of the service (Retry-After) are left to the engine: the row waits instead of a slot. */
const LONGEST_PAUSE_MS = 5_000;

/** @throws what `faultOf` makes of the last error (an OutsideError before that is tried again), or the signal's reason at once. */
export async function insistently<T>(ask: (signal: AbortSignal) => Promise<T>, policy: CallPolicy, signal: AbortSignal, faultOf: (error: unknown) => Error): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await abortable(ask, policy.timeoutMs, signal);
    } catch (error) {
      signal.throwIfAborted();
      const fault = faultOf(error);
      const wait = fault instanceof OutsideError ? pauseMs(tried, policy, fault.retryAfterMs) : Infinity;
      if (tried >= policy.tries || wait > LONGEST_PAUSE_MS) throw fault;
      await pause(wait, signal);
    }
  }
}

/** At least what the service wished; else exponential, with the upper half at random. */
function pauseMs(tried: number, policy: CallPolicy, wished = 0): number {
  return Math.max(wished, policy.firstPauseMs * 2 ** (tried - 1) * (0.5 + Math.random() / 2));
}

/** The HTTP status of an answer; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  return APICallError.isInstance(error) ? error.statusCode : undefined;
}

/** Whether the status says that the service is away for now. */
export function isAway(status: number): boolean {
  return status === 429 || status === 408 || status >= 500;
}

/**
 * Whether the status speaks of our own settings (key, right, address, model) and so of every request alike: the queue rests until someone has
 * put them right, and no work is failed for it.
 */
export function isMisconfigured(status: number): boolean {
  return status === 401 || status === 403 || status === 404;
}

/** Between two tries while the settings are wrong (ms): a person has to act first. */
export const MISCONFIGURED_PAUSE_MS = 60_000;

/** Retry-After in milliseconds. Seconds only; the date form would need a clock that both sides trust. */
export function retryAfterMs(error: unknown): number | undefined {
  const header = APICallError.isInstance(error) ? error.responseHeaders?.['retry-after'] : undefined;
  return header && /^\d+$/.test(header) ? Number(header) * 1000 : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
