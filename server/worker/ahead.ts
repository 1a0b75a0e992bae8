/**
 * Claiming ahead: leases beyond the slots, so that handlers which take a moment never wait for a round trip to the database. The rows wait in
 * this process, held and beating like any other, until a slot is free.
 *
 * Promises
 * - Only while the queue's handlers are tiny by the moving mean of their measured times (TINY_MS). It begins slow, as after a restart, and takes
 *   about twenty quick runs, one after the other, to become quick; one slow run, also one that is still going on, makes it slow again. Slow
 *   handlers hold no more rows than the worker has slots.
 * - At most WORK_MS of work by that mean, one row after the other, and at most MAX_AHEAD rows: a worker with free slots would not have had them much
 *   sooner. A row that waits for longer than PATIENCE_MS all the same is given back, nothing charged (`unstarted`).
 * - Only from a queue that had at least as many rows as were asked for: it doubles from claim to claim, and a claim that comes back short ends it,
 *   so what little there is stays for the slots of all workers.
 * - Never in a queue whose rows share a cap (a waiting row would use up its user's part) or are locks.
 *
 * Killed with rows claimed ahead: each has lost one lease, as the rows in the slots have, though its handler never began. A row that kills its
 * workers must not take so many others with it time after time: the claim statement looks first, and where a row that has lost a lease waits
 * among those it would take, it takes no more than the slots have room for. Such rows only ever meet each other within the slots.
 */
import type { QueueDefinition } from '../lease/queues.js';
import type { Held } from './held.js';

/** Longest mean (ms) of handlers that are worth claiming ahead for: about the time of a round trip with its commit. */
const TINY_MS = 5;
/** What the mean is before anything was measured, and the most that one run may count for (ms): enough to make it slow. */
const SLOW_MS = 50;
/** Work (ms) that may wait here. */
const WORK_MS = 50;
/** Longest wait (ms) of a row that was claimed ahead. */
export const PATIENCE_MS = 5 * WORK_MS;
/** What one statement of the pump can end (pump-loop.ts). */
const MAX_AHEAD = 500;
/** Weight of the newest run in the mean. */
const NEWEST = 1 / 8;

/** The pace of one queue's handlers in this process. Times are those of performance.now(). */
export class Pace {
  private readonly never: boolean;
  /** In order of their start: the first has been running for longest. */
  private readonly running = new Map<Held, number>();
  private meanMs = SLOW_MS;
  private measuredUntil = 0;
  private granted = 0;

  constructor(queue: QueueDefinition) {
    this.never = Boolean(queue.sharedBy ?? queue.words);
  }

  started(held: Held, now = performance.now()): void {
    if (!this.never) this.running.set(held, now);
  }

  ended(held: Held, now = performance.now()): void {
    const since = this.running.get(held);
    if (since === undefined) return;
    this.running.delete(held);
    // Runs that overlap say the same thing many times over: a pause of the whole process would count once for each slot.
    if (since < this.measuredUntil) return;
    this.measuredUntil = now;
    this.meanMs = this.meanWith(now - since);
  }

  /** A claim asked for `asked` rows, the statement allowed `allowed` of them, and there were `got`. */
  claimed(asked: number, allowed: number, got: number): void {
    if (allowed < asked) this.reset();
    else if (got < asked) this.granted = 0;
    else this.granted = Math.min(MAX_AHEAD, Math.max(asked, this.granted * 2));
  }

  /** Starts over: nothing is claimed ahead until the handlers have proved quick again. */
  reset(): void {
    this.meanMs = SLOW_MS;
    this.granted = 0;
  }

  /** How many rows may be held beyond the slots now. */
  ahead(now = performance.now()): number {
    if (this.granted === 0) return 0;
    const [oldest] = this.running.values();
    const meanMs = oldest === undefined ? this.meanMs : Math.max(this.meanMs, this.meanWith(now - oldest));
    return meanMs > TINY_MS ? 0 : Math.min(this.granted, Math.floor(WORK_MS / meanMs));
  }

  private meanWith(ms: number): number {
    return this.meanMs + (Math.min(ms, SLOW_MS) - this.meanMs) * NEWEST;
  }
}

/** Leases that wait for a slot of one lane, oldest first. */
export class Unstarted {
  private waiting: { held: Held; since: number }[] = [];

  push(held: Held, since = performance.now()): void {
    this.waiting.push({ held, since });
  }

  shift(): Held | undefined {
    return this.waiting.shift()?.held;
  }

  /** Takes out those of which `which` is true. */
  take(which: (held: Held, since: number) => boolean): Held[] {
    const taken = this.waiting.filter((one) => which(one.held, one.since));
    this.waiting = this.waiting.filter((one) => !taken.includes(one));
    return taken.map((one) => one.held);
  }

  count(queue: string): number {
    return this.waiting.reduce((sum, { held }) => sum + Number(held.lease.queue === queue), 0);
  }

  get size(): number {
    return this.waiting.length;
  }
}
