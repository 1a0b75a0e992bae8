/**
 * How a handler says what went wrong. The class decides what the failure costs the row (protocol: two counters).
 */
abstract class WorkError extends Error {
  constructor(readonly code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The work itself can never succeed: the row fails at once with this code. */
export class PermanentError extends WorkError {}

/** The work failed but may succeed when tried again: charged to `attempt`; the row fails with this code at max_attempts. */
export class TransientError extends WorkError {}

/** A service outside is down (429, 5xx, timeout, unreachable): nothing is charged, the row waits and its capability rests. */
export class OutsideError extends WorkError {
  /** The service's own wish, in milliseconds, if it said one (Retry-After); capped by the engine. */
  readonly retryAfterMs: number | undefined;
  constructor(code: string, message: string, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(code, message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The lease is no longer ours: the result is thrown away and nothing more may be written. Raised by fence() and as an abort reason. */
export class LeaseLostError extends Error {
  constructor(readonly queue: string, readonly id: string, readonly token: string, readonly why: string) {
    super(`Lease ${token} on ${queue} ${id} is lost: ${why}.`);
    this.name = 'LeaseLostError';
  }
}
