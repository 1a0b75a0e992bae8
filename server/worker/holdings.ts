/**
 * The leases this process holds. A process trusts a lease only until a monotonic deadline counted from *before* the request that took or
 * renewed it was sent, less a margin: by then it stops by itself, though no one has told it that the lease is gone.
 */
import { LeaseLostError } from '../lease/errors.js';
import type { Lease } from '../lease/lease.js';
import { Held } from './held.js';

/** Trust ends this share of the lease before the database's expiry, at most MAX_MARGIN_MS: time for a write under way to arrive. */
const MARGIN_SHARE = 0.1;
const MAX_MARGIN_MS = 5_000;

export class Holdings {
  /** By queue, by row id. */
  private readonly held = new Map<string, Map<string, Held>>();
  private readonly trustMs: number;

  constructor(leaseSeconds: number) {
    this.trustMs = leaseSeconds * 1000 - Math.min(MAX_MARGIN_MS, leaseSeconds * 1000 * MARGIN_SHARE);
  }

  /** @param sentAt performance.now() before the acquire was sent. */
  add(lease: Lease, sentAt: number): Held {
    const ofQueue = this.held.get(lease.queue) ?? new Map<string, Held>();
    const before = ofQueue.get(lease.id);
    if (before) this.lose(before, 'this process has claimed the row again'); // its own expired lease came back to it under a new token
    const held = new Held(lease, sentAt + this.trustMs);
    this.held.set(lease.queue, ofQueue.set(lease.id, held));
    return held;
  }

  renewed(held: Held, sentAt: number): void {
    held.deadline = sentAt + this.trustMs;
  }

  has(held: Held): boolean {
    return this.get(held.lease.queue, held.lease.id) === held;
  }

  remove(held: Held): void {
    if (this.has(held)) this.held.get(held.lease.queue)!.delete(held.lease.id);
  }

  /** The lease is gone: its work stops and its result will be thrown away. */
  lose(held: Held, why: string): void {
    this.remove(held);
    held.stop(new LeaseLostError(held.lease.queue, held.lease.id, held.lease.token, why));
  }

  /** Any queue's: a hint names only ids. */
  byRowId(id: string): Held[] {
    return this.all().filter((held) => held.lease.id === id);
  }

  get(queue: string, id: string): Held | undefined {
    return this.held.get(queue)?.get(id);
  }

  all(): Held[] {
    return [...this.held.values()].flatMap((ofQueue) => [...ofQueue.values()]);
  }

  idsOf(queue: string): string[] {
    return [...this.held.get(queue)?.keys() ?? []];
  }

  get size(): number {
    return [...this.held.values()].reduce((sum, ofQueue) => sum + ofQueue.size, 0);
  }

  /** Loses every lease whose local deadline has passed. @returns them. */
  loseOverdue(now = performance.now()): Held[] {
    const overdue = this.all().filter((held) => held.deadline <= now);
    for (const held of overdue) this.lose(held, 'it could not be renewed in time');
    return overdue;
  }
}
