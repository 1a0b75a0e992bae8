/**
 * Claiming ahead: leases beyond the slots, so that handlers which take a moment never wait for a round trip to the database. The rows wait in
 * this process, held and beating like any other, until a slot is free.
 *
 * Promises
 * - Only while the queue's handlers are tiny by the moving mean of their measured times (TINY_MS). It begins slow, as after a restart, and takes
 *   ten quick runs, one after the other, to become quick; two slow runs, also one that is still going on, make it slow again. Slow handlers hold
 *   no more rows than the worker has slots.
 * - At most WORK_MS of work at the measured rate, and at most MAX_AHEAD rows: a worker with free slots would not have had them much sooner. The
 *   rate is Little's law: runs going on, over the time that one takes. A row that waits for longer than PATIENCE_MS all the same is given back,
 *   nothing charged (`unstarted`).
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
/** What the means are before anything was measured, and the most that one run may count for (ms): enough to make them slow. */
const SLOW_MS = 50;
/** Work (ms) that may wait here. */
const WORK_MS = 50;
/** Longest wait (ms) of a row that was claimed ahead. */
export const PATIENCE_MS = 5 * WORK_MS;
/** Twice what one statement of the pump can end (pump-loop.ts): while it ends one half, the handlers have the other. */
const MAX_AHEAD = 1_000;
/** Weight of the newest run in the means. */
const NEWEST = 1 / 4;

/** The pace of one queue's handlers in this process. Times are those of performance.now(). */
export class Pace {
  private readonly never: boolean;
  /** In order of their start: the first has been running for longest. */
  private readonly running = new Map<Held, number>();
  /** Mean time of a run. */
  private meanMs = SLOW_MS;
  /** Mean time from one end to the next, while the runs overlap as they do. */
  private betweenMs = SLOW_MS;
  private lastMs = SLOW_MS;
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
    const together = this.running.size;
    this.running.delete(held);
    // Runs that overlap say the same thing many times over: a pause of the whole process would count once for each slot.
    if (since < this.measuredUntil) return;
    this.measuredUntil = now;
    // A pause of the process (its garbage collector's, say) makes one measure slow, slow handlers the next as well.
    const ms = Math.min(now - since, this.lastMs);
    this.lastMs = now - since;
    this.meanMs = moved(this.meanMs, ms);
    this.betweenMs = moved(this.betweenMs, ms / together);
  }

  /** A claim asked for `asked` rows, the statement allowed `allowed` of them, and there were `got`. */
  claimed(asked: number, allowed: number, got: number): void {
    if (allowed < asked) this.reset();
    else if (got < asked) this.granted = 0;
    else this.granted = Math.min(MAX_AHEAD, Math.max(asked, this.granted * 2));
  }

  /** Starts over: nothing is claimed ahead until the handlers have proved quick again. */
  reset(): void {
    this.meanMs = this.betweenMs = this.lastMs = SLOW_MS;
    this.granted = 0;
  }

  /** How many rows may be held beyond the slots now. */
  ahead(now = performance.now()): number {
    if (this.granted === 0) return 0;
    const [oldest] = this.running.values();
    const meanMs = oldest === undefined ? this.meanMs : Math.max(this.meanMs, moved(this.meanMs, now - oldest));
    return meanMs > TINY_MS ? 0 : Math.min(this.granted, Math.floor(WORK_MS / this.betweenMs));
  }
}

/** A moving mean after one more run of `ms`. */
function moved(mean: number, ms: number): number {
  return mean + (Math.min(ms, SLOW_MS) - mean) * NEWEST;
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
