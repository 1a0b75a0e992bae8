/**
 * The leases this process holds. A process trusts a lease only until a monotonic deadline counted from *before* the request that took or
 * renewed it was sent, less a margin: by then it stops by itself, though no one has told it that the lease is gone.
 */
import { LeaseLostError } from '../lease/errors.js';
import type { Lease } from '../lease/lease.js';

/** Why a handler was asked to stop although its lease is fine: the row is given back, uncharged. */
export class DrainedError extends Error {}

export interface Held {
  lease: Lease;
  controller: AbortController;
  /** performance.now() after which the lease is not trusted. */
  deadline: number;
  progress?: { done: number; total: number };
  /** Its own settling transaction is under way: a drain waits for it instead of giving the row back. */
  settling: boolean;
  /** Its end waits for the pump: the row may be over before the answer is back. */
  ending: boolean;
}

/** Trust ends this share of the lease before the database's expiry, at most MAX_MARGIN_MS: time for a write under way to arrive. */
const MARGIN_SHARE = 0.1;
const MAX_MARGIN_MS = 5_000;

export class Holdings {
  private readonly held = new Map<string, Held>();
  private readonly trustMs: number;

  constructor(leaseSeconds: number) {
    this.trustMs = leaseSeconds * 1000 - Math.min(MAX_MARGIN_MS, leaseSeconds * 1000 * MARGIN_SHARE);
  }

  /** @param sentAt performance.now() before the acquire was sent. */
  add(lease: Lease, sentAt: number): Held {
    const before = this.held.get(keyOf(lease));
    if (before) this.lose(before, 'this process has claimed the row again'); // its own expired lease came back to it under a new token
    const held: Held = { lease, controller: new AbortController(), deadline: sentAt + this.trustMs, settling: false, ending: false };
    this.held.set(keyOf(lease), held);
    return held;
  }

  renewed(held: Held, sentAt: number): void {
    held.deadline = sentAt + this.trustMs;
  }

  has(held: Held): boolean {
    return this.held.get(keyOf(held.lease)) === held;
  }

  remove(held: Held): void {
    if (this.has(held)) this.held.delete(keyOf(held.lease));
  }

  /** The lease is gone: its work stops and its result will be thrown away. */
  lose(held: Held, why: string): void {
    this.remove(held);
    held.controller.abort(new LeaseLostError(held.lease.queue, held.lease.id, held.lease.token, why));
  }

  byRowId(id: string): Held[] {
    return this.all().filter((held) => held.lease.id === id);
  }

  all(): Held[] {
    return [...this.held.values()];
  }

  idsOf(queue: string): string[] {
    return this.all().filter((held) => held.lease.queue === queue).map((held) => held.lease.id);
  }

  get size(): number {
    return this.held.size;
  }

  /** Loses every lease whose local deadline has passed. @returns them. */
  loseOverdue(now = performance.now()): Held[] {
    const overdue = this.all().filter((held) => held.deadline <= now);
    for (const held of overdue) this.lose(held, 'it could not be renewed in time');
    return overdue;
  }
}

function keyOf(lease: Lease): string {
  return `${lease.queue}/${lease.id}`;
}
