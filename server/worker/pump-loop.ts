/**
 * The pump: one connection that settles what has finished and claims for the free slots, a statement a queue and round, never two at once.
 *
 * Crash and fault behaviour
 * - A statement whose answer is lost is sent again with the same endings: ends are idempotent (settle.ts).
 * - An acquire whose answer is lost may leave rows held by this process that it does not know of: after any failed round, before the next
 *   claim, they are given back uncharged; and again with each poll until the lost statement cannot be running any more, since a server that
 *   did not see the connection break may still commit it.
 * - Endings wait here, their leases still beating, until the database takes them or the lease is lost.
 */
import { errorCode, isConnectionError } from '../db/connection.js';
import type { Ending } from '../lease/ending.js';
import { pump, type Holder, type PumpResult, type Queryable } from '../lease/pump.js';
import type { QueueDefinition } from '../lease/queues.js';
import { giveBackUnknown } from '../lease/release.js';
import { classifyMissed } from '../lease/settle.js';
import type { Logger } from '../log.js';

/** After a failed round (ms), with jitter. */
const RETRY_MS = 500;
/** How long (ms) a statement may go on in the server after its connection was lost: above the limit that its session sets (process.ts). */
const ZOMBIE_MS = 30_000;
/** SQLSTATE classes of an end that can never be written: bad data (22), a broken constraint (23). Everything else may pass: locks, limits, resources. */
const REFUSED_FOR_GOOD = /^2[23]/;
/** One statement ends at most this many leases, and claims as many: bounds its size after an outage. */
const MAX_ROWS = 500;
/** Ends enough to make a statement worth its fixed cost. */
const HANDFUL = 100;

export interface PumpLoopOptions {
  db: Queryable & { generation(): number };
  queues: readonly QueueDefinition[];
  registry: readonly QueueDefinition[];
  holder: Holder;
  /** How many rows of this queue may be claimed now, and how many of them beside a row that has lost a lease (pump.ts); may be negative. */
  wanted(queue: QueueDefinition): { claim: number; besideLost: number };
  /** Row ids this process holds. */
  known(queue: QueueDefinition): readonly string[];
  /** The answer to a claim of `asked` rows, with performance.now() from before it was sent. */
  claimed(queue: QueueDefinition, answer: Pick<PumpResult, 'claimed' | 'claimLimit'>, asked: number, sentAt: number): void;
  /** Ends that took effect or were refused for good; their leases are over. */
  ended(queue: QueueDefinition, endings: readonly Ending[]): void;
  /** Rows changed (after commit): hints, and kicks for what became claimable. */
  changed(queue: QueueDefinition, result: PumpResult, endings: readonly Ending[]): void;
  /** Rows of an acquire that was never answered are back in the queue, below anyone's mark. */
  givenBack(queue: QueueDefinition, ids: readonly string[]): void;
  log: Logger;
}

interface QueueState {
  lowWaterMark: string | undefined;
  /** A hint said "low" since the last claim was sent: the answer must not put the mark back. */
  loweredMeanwhile: boolean;
  maybeClaimable: boolean;
  endings: Ending[];
  /** Send endings one by one: a batch was refused for what it contains, and the others must not suffer for it. */
  oneByOne: boolean;
  generation: number;
  /** A round failed: rows may be held that nobody knows of. */
  suspect: boolean;
  /** performance.now() until which a lost statement may still commit. */
  zombieUntil: number;
}

/** One statement's ends. Once written they are over, whatever fails afterwards. */
interface Round {
  endings: Ending[];
  written: boolean;
}

export class PumpLoop {
  private readonly states: Map<string, QueueState>;
  private round: Promise<void> | undefined;
  private again = false;
  private retryTimer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(private readonly options: PumpLoopOptions) {
    this.states = new Map(options.queues.map((queue) => [queue.table, { lowWaterMark: undefined, loweredMeanwhile: false, maybeClaimable: true, endings: [], oneByOne: false, generation: 0, suspect: true, zombieUntil: 0 }]));
  }

  /** An end to be written with the next round. */
  end(queue: string, ending: Ending): void {
    this.states.get(queue)!.endings.push(ending);
    this.wake();
  }

  /** Ends that wait for a later statement: their rows are still held. */
  waiting(queue: string): number {
    return this.states.get(queue)?.endings.length ?? 0;
  }

  /** False once a claim has come back short, until something says otherwise. */
  mayHave(queue: string): boolean {
    return this.states.get(queue)?.maybeClaimable ?? false;
  }

  /** Something may be claimable. `low`: also below the mark. Unknown names are ignored (hints come from outside). */
  claimable(queue: string, low: boolean): void {
    const state = this.states.get(queue);
    if (!state) return;
    state.maybeClaimable = true;
    if (!low) return;
    state.lowWaterMark = undefined;
    state.loweredMeanwhile = true;
  }

  /** The poll: looks at everything again, from the bottom. */
  pollAll(): void {
    for (const [queue, state] of this.states) {
      this.claimable(queue, true);
      if (performance.now() < state.zombieUntil) state.suspect = true;
    }
    this.wake();
  }

  /** Runs a round soon; calls during a round cause one more. Ends of one turn of the event loop travel together. */
  wake(): void {
    if (this.stopped) return;
    this.again = true;
    this.round ??= this.rounds().finally(() => {
      this.round = undefined;
      if (this.again) this.wake(); // woken after the last look and before this: an end would wait for the next poll
    });
  }

  /** Resolves when every ending handed in so far is written, or rejects after `limitMs` (ms). */
  async flush(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs;
    while ([...this.states.values()].some((state) => state.endings.length > 0) || this.round) {
      if (performance.now() > until) throw new Error('The last leases could not be given back in time; the sweep will take them.');
      this.wake();
      await Promise.race([this.round, new Promise((resolve) => setTimeout(resolve, 50))]);
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.retryTimer);
    await this.round;
  }

  private async rounds(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      if (!this.hasHandful()) await new Promise((resolve) => setImmediate(resolve));
      let failed = false;
      for (const queue of this.options.queues) {
        const outcome = await this.tryOne(queue);
        failed ||= outcome !== 'done';
        if (outcome === 'disconnected') break; // the others have the same connection
      }
      if (failed) {
        this.again = false;
        return this.retryLater();
      }
      this.again ||= this.options.queues.some((queue) => this.hasMore(queue));
    }
  }

  /** So many ends that none need be waited for: the database works on them while the handlers work on the next. */
  private hasHandful(): boolean {
    return [...this.states.values()].some((state) => state.endings.length >= HANDFUL);
  }

  /** Also of a queue that stood before another in this round and could not be asked, because the other's ends were not written yet. */
  private hasMore(queue: QueueDefinition): boolean {
    const state = this.states.get(queue.table)!;
    return state.endings.length > 0 || (state.maybeClaimable && this.options.wanted(queue).claim > 0);
  }

  private retryLater(): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => this.wake(), RETRY_MS * (0.5 + Math.random()));
  }

  private async tryOne(queue: QueueDefinition): Promise<'done' | 'failed' | 'disconnected'> {
    const state = this.states.get(queue.table)!;
    const round: Round = { endings: state.endings.splice(0, state.oneByOne ? 1 : MAX_ROWS), written: false };
    try {
      await this.pumpOne(queue, state, round);
      if (state.endings.length === 0) state.oneByOne = false;
      return 'done';
    } catch (error) {
      this.options.log.warn({ event: 'pump_failed', queue: queue.table, err: error }, 'A round of the pump failed and will be tried again');
      Object.assign(state, { maybeClaimable: true, suspect: true });
      if (!round.written) this.keepForLater(queue, state, round.endings, error);
      if (!isConnectionError(error)) return 'failed';
      for (const one of this.states.values()) one.zombieUntil = performance.now() + ZOMBIE_MS;
      return 'disconnected';
    }
  }

  /** Only an end that is refused for what it says is dropped (its lease runs out, the sweep takes the row), and it alone; all others are sent again. */
  private keepForLater(queue: QueueDefinition, state: QueueState, endings: Ending[], error: unknown): void {
    const refused = REFUSED_FOR_GOOD.test(errorCode(error));
    state.oneByOne = refused && endings.length > 1;
    if (refused && endings.length === 1) this.options.ended(queue, endings);
    else state.endings.unshift(...endings);
  }

  private async pumpOne(queue: QueueDefinition, state: QueueState, round: Round): Promise<void> {
    const { endings } = round;
    const { db, holder, registry } = this.options;
    await this.giveBackUnknown(queue, state, endings);
    const wanted = this.options.wanted(queue);
    const claim = state.maybeClaimable ? Math.max(0, Math.min(MAX_ROWS, wanted.claim)) : 0;
    if (claim === 0 && endings.length === 0) return;
    const sentAt = performance.now();
    if (claim > 0) Object.assign(state, { maybeClaimable: false, loweredMeanwhile: false });
    const result = await pump(db, queue, holder, { endings, claim, claimBesideLost: wanted.besideLost, lowWaterMark: state.lowWaterMark, prepared: true }, registry);
    round.written = true;
    if (claim > 0) this.took(queue, state, result, claim, sentAt);
    await this.concludeEndings(queue, endings, result);
  }

  private took(queue: QueueDefinition, state: QueueState, result: PumpResult, claim: number, sentAt: number): void {
    if (!state.loweredMeanwhile) state.lowWaterMark = result.lowWaterMark;
    if (result.claimed.length === result.claimLimit) state.maybeClaimable = true;
    this.options.claimed(queue, result, claim, sentAt);
  }

  private async concludeEndings(queue: QueueDefinition, endings: Ending[], result: PumpResult): Promise<void> {
    this.options.ended(queue, endings);
    this.options.changed(queue, result, endings);
    if (result.missed.length === 0) return;
    const verdicts = await classifyMissed(this.options.db, queue, this.options.holder, result.missed);
    const lost = result.missed.filter((ending) => verdicts.get(ending) === 'lost');
    if (lost.length > 0) this.options.log.warn({ event: 'late_writes', queue: queue.table, rows: lost.map((ending) => ending.id) }, 'Results came after their lease was lost and were thrown away');
  }

  private async giveBackUnknown(queue: QueueDefinition, state: QueueState, endings: readonly Ending[]): Promise<void> {
    const { db, holder } = this.options;
    if (!state.suspect && db.generation() === state.generation) return;
    // Ends that wait here count as known although their lease may not be trusted any more: the database decides about them.
    const known = [...this.options.known(queue), ...[...endings, ...state.endings].map((ending) => ending.id)];
    // Opens the connection if need be, so that the generation read next is that of the connection this round uses.
    const given = await giveBackUnknown(db, queue, holder, known);
    Object.assign(state, { generation: db.generation(), suspect: false, lowWaterMark: undefined, maybeClaimable: true });
    if (given.length === 0) return;
    this.options.log.info({ event: 'given_back', queue: queue.table, rows: given }, 'Rows whose acquire was never answered were given back');
    this.options.givenBack(queue, given);
  }
}
