import type { Lease } from '../lease/lease.js';

/** Why a handler was asked to stop although its lease is fine: the row is given back, uncharged. */
export class DrainedError extends Error {}

/** One lease in this process's hands. What a trivial handler never asks for (its signal) is made only when asked. */
export class Held {
  progress: { done: number; total: number } | undefined;
  /** Its own settling transaction is under way: a drain waits for it instead of giving the row back. */
  settling = false;
  /** Its end waits for the pump: the row may be over before the answer is back. */
  ending = false;
  private controller: AbortController | undefined;
  private reason: Error | undefined;

  /** @param deadline performance.now() after which the lease is not trusted. */
  constructor(readonly lease: Lease, public deadline: number) {}

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.reason) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** Stops the work. The first reason stays. */
  stop(reason: Error): void {
    this.reason ??= reason;
    this.controller?.abort(this.reason);
  }

  get stoppedBy(): Error | undefined {
    return this.reason;
  }
}
