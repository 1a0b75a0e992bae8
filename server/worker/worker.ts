/**
 * One process's share of the work: claims for its slots, runs the handlers, beats, and ends what it holds. Wired from parts that each say
 * what they promise: pump-loop, beat-loop, run-lease, breaker, holdings. Nothing runs before start().
 *
 * Drain (SIGTERM): stop claiming; give back at once what was claimed ahead and has not begun; finish what fits in the budget; give back the
 * rest, nothing charged, with a kick that says `low`, so that another worker has it within a second; beats stop last. Killed at any point: the
 * leases run out and the sweep requeues the rows, each with one lost lease, also those that were only claimed ahead (ahead.ts).
 */
import { kick } from '../bus/kick.js';
import type { KickMessage } from '../bus/topics.js';
import type { Ending, GiveBackVerb } from '../lease/ending.js';
import type { Lease } from '../lease/lease.js';
import type { ProcessOrders } from '../lease/processes.js';
import type { PumpResult } from '../lease/pump.js';
import { queueByTable, type QueueDefinition } from '../lease/queues.js';
import { createBeatLoop } from './beat-loop.js';
import { Claims } from './claims.js';
import { createBreaker, type Breaker } from './breaker.js';
import { DrainedError, type Held } from './held.js';
import { Holdings } from './holdings.js';
import { lanesOf, Slots } from './lanes.js';
import { createLoop, type Loop } from './loop.js';
import type { WorkerParts } from './parts.js';
import { PumpLoop } from './pump-loop.js';
import { runLease, type RunEnd } from './run-lease.js';
import { Starts } from './starts.js';

/** A burst of kicks wakes many workers many times: after the first of them each waits up to this long (ms), and one that comes meanwhile costs nothing. */
const KICK_JITTER_MS = 50;
/** Share of the drain budget kept for giving back what did not finish, at most MAX_GIVE_BACK_MS. */
const GIVE_BACK_SHARE = 0.3;
const MAX_GIVE_BACK_MS = 3_000;
/** One try at giving back is made even when there is no budget at all (DRAIN_SECONDS=0). */
const MIN_GIVE_BACK_MS = 500;

export class Worker {
  private readonly holdings: Holdings;
  private readonly slots: Slots;
  private readonly claims: Claims;
  private readonly starts: Starts;
  private readonly breaker: Breaker;
  private readonly pump: PumpLoop;
  private readonly polls: Loop;
  private readonly deadlines: Loop;
  private readonly beats: Loop;
  private readonly timers = new Set<NodeJS.Timeout>();
  private kickTimer: NodeJS.Timeout | undefined;
  private lastKickAt = -Infinity;
  private drainedByOperator = false;
  private draining = false;
  private givingBack = false;

  constructor(private readonly parts: WorkerParts) {
    const { config, log, registry } = parts;
    this.holdings = new Holdings(config.leaseSeconds);
    this.slots = new Slots(lanesOf(config, parts.queues), (queue) => this.pump.waiting(queue) + this.starts.count(queue));
    this.breaker = createBreaker(parts.pool, log);
    this.claims = new Claims({
      queues: parts.queues, slots: this.slots, breaker: this.breaker,
      holds: (queue) => this.holdings.idsOf(queue).length > 0, mayHave: (queue) => this.pump.mayHave(queue), idles: () => this.draining || this.drainedByOperator,
    });
    this.starts = new Starts({
      slots: this.slots, run: (held) => this.run(held), giveBack: (held, verb) => this.giveBack(held, verb),
      isHeld: (held) => this.holdings.has(held) && !held.ending, rests: (queue) => this.breaker.allowance(queue) !== Infinity, draining: () => this.draining,
    });
    this.pump = new PumpLoop({
      db: parts.pumpConnection, queues: this.slots.lanes.flatMap((lane) => lane.queues), registry, holder: parts.holder, log,
      wanted: (queue) => this.claims.wanted(queue),
      known: (queue) => this.holdings.idsOf(queue.table),
      claimed: (queue, answer, asked, sentAt) => {
        this.claims.answered(queue, answer, asked);
        for (const lease of answer.claimed) this.take(lease, sentAt);
      },
      ended: (queue, endings) => endings.forEach((ending) => this.forget(queue, ending)),
      changed: (queue, result, endings) => this.announce(queue, result, endings),
      givenBack: (queue, ids) => {
        parts.hints.changed(queue.table, ids);
        this.offer(queue.table, true);
      },
    });
    this.beats = createBeatLoop({
      db: parts.beatConnection, holdings: this.holdings, processId: parts.holder.workerId, leaseSeconds: config.leaseSeconds,
      heartbeatSeconds: config.heartbeatSeconds, registry, log, register: parts.register,
      orders: (orders) => this.obey(orders), beaten: () => parts.hints.beat(parts.holder.workerId),
    });
    this.polls = createLoop({ name: 'poll', everyMs: config.pollSeconds * 1000, jitter: 0.4, run: () => this.poll(), log });
    this.deadlines = createLoop({ name: 'lease deadlines', everyMs: Math.min(1000, config.leaseSeconds * 50), jitter: 0, run: async () => this.dropOverdue(), log });
  }

  start(): void {
    this.parts.listener.subscribe('kick', (message) => this.hear(message));
    this.parts.listener.onActive(() => { this.pump.pollAll(); void this.beats.runOnce().catch(() => {}); }); // the beat reads the orders; logged by the loop's next run
    for (const loop of [this.beats, this.polls, this.deadlines]) loop.start();
    this.pump.pollAll();
  }

  /** Leases held now. */
  get held(): number {
    return this.holdings.size;
  }

  /**
   * Gives up everything within `budgetMs` and stops. Resolves when the last end is written and the beats have stopped; what could not be
   * given back in time is left to the sweep. Claims nothing from the moment it is called.
   */
  async drain(budgetMs: number): Promise<void> {
    const started = performance.now();
    this.draining = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.starts.giveBack('drain');
    await this.polls.stop();
    const giveBackMs = Math.min(MAX_GIVE_BACK_MS, budgetMs * GIVE_BACK_SHARE);
    await this.untilIdle(started + budgetMs - giveBackMs);
    this.givingBack = true;
    for (const held of this.holdings.all()) this.giveBack(held, 'drain');
    const end = Math.max(started + budgetMs, performance.now() + MIN_GIVE_BACK_MS);
    await this.pump.flush(end - performance.now())
      .catch((error: unknown) => this.parts.log.warn({ event: 'drain_incomplete', held: this.held, err: error }, 'Not everything could be given back'));
    await this.untilIdle(end); // settling transactions of their own
    await this.pump.stop();
    await this.parts.hints.flush();
    await this.deadlines.stop();
    await this.beats.stop();
  }

  /** A claim that was under way when the orders came is handed straight back. */
  private take(lease: Lease, sentAt: number): void {
    const held = this.holdings.add(lease, sentAt);
    if (this.givingBack || this.drainedByOperator) this.giveBack(held, 'drain');
    else this.starts.add(held);
  }

  private run(held: Held): void {
    const queue = queueByTable(held.lease.queue, this.parts.registry)!;
    const freeSlot = this.slots.take(queue.table);
    const pace = this.claims.pace(queue.table);
    const { holder, pool, log, registry } = this.parts;
    pace.started(held);
    void runLease(held, { queue, handler: this.parts.handlers[queue.table]!, holder, pool, breaker: this.breaker, log, registry })
      .then((end) => {
        pace.ended(held);
        freeSlot();
        this.conclude(held, queue, end);
        this.starts.next(queue.table);
      });
  }

  private conclude(held: Held, queue: QueueDefinition, end: RunEnd): void {
    if (end.kind === 'ending' && this.holdings.has(held) && !held.ending) {
      held.ending = true;
      this.pump.end(queue.table, end.ending);
      return;
    }
    if (end.kind === 'settled') this.announce(queue, end.result, []);
    if (!held.ending) this.holdings.remove(held);
    this.pump.claimable(queue.table, false);
    this.pump.wake();
  }

  private forget(queue: QueueDefinition, ending: Ending): void {
    const held = this.holdings.get(queue.table, ending.id);
    if (held?.lease.token === ending.token) this.holdings.remove(held);
  }

  /** After commit: what consoles should read again, and what other workers may take. */
  private announce(queue: QueueDefinition, result: PumpResult, endings: readonly Ending[]): void {
    this.parts.hints.changed(queue.table, [...result.claimed, ...result.ended].map((row) => row.id));
    if (queue.parent) {
      this.parts.hints.changed(queue.parent.queue, result.parents.map((row) => row.id));
      if (result.parents.some((row) => row.state === 'queued')) this.offer(queue.parent.queue, false);
    }
    if (endings.some((ending) => ending.verb === 'drain' || ending.verb === 'unstarted')) this.offer(queue.table, true);
    for (const ending of endings) if (ending.delayMs !== undefined) this.lookAgainIn(ending.delayMs, queue);
  }

  /** Not in the hot transaction: a crash between commit and kick costs a poll interval, never a row. */
  private offer(queue: string, low: boolean): void {
    this.pump.claimable(queue, low);
    this.pump.wake();
    const db = { query: (text: string, values: unknown[]) => this.parts.beatConnection.query({ text, values }) };
    kick(db, this.parts.config, low ? { q: queue, low } : { q: queue })
      .catch((error: unknown) => this.parts.log.debug({ event: 'kick_lost', queue, err: error }, 'A kick was lost; the poll finds the rows'));
  }

  private lookAgainIn(delayMs: number, queue: QueueDefinition): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.pump.claimable(queue.table, false);
      this.pump.wake();
    }, delayMs + KICK_JITTER_MS).unref();
    this.timers.add(timer);
  }

  private hear(message: KickMessage): void {
    const me = this.parts.holder.workerId;
    if ('q' in message) this.heardKick(message.q, message.low ?? false);
    else if ('lost' in message) for (const id of message.lost) this.taken(id);
    else if ('drain' in message && message.drain === me) this.obey({ drainedBy: 'operator' });
    else if ('resume' in message && message.resume === me) this.obey({ drainedBy: null });
  }

  private heardKick(queue: string, low: boolean): void {
    this.pump.claimable(queue, low);
    const alone = performance.now() - this.lastKickAt > KICK_JITTER_MS;
    this.lastKickAt = performance.now();
    if (alone && !this.kickTimer) return this.pump.wake();
    this.kickTimer ??= setTimeout(() => {
      this.kickTimer = undefined;
      this.pump.wake();
    }, Math.random() * KICK_JITTER_MS);
  }

  /**
   * A hint is not proof: the row may be ours again under a newer token. The database is asked by an early beat; a beat that was under way
   * may have read before the commit that the hint speaks of, so whoever is still held after it is asked about once more.
   */
  private taken(id: string): void {
    const held = this.holdings.byRowId(id);
    if (held.length === 0) return;
    void this.beats.runOnce()
      .then(() => held.some((one) => this.holdings.has(one)) ? this.beats.runOnce() : undefined)
      .catch(() => {}); // logged by the loop's next run
  }

  private obey(orders: ProcessOrders): void {
    const drained = orders.drainedBy === 'operator';
    if (drained === this.drainedByOperator) return;
    this.drainedByOperator = drained;
    this.parts.log.info({ event: drained ? 'drained_by_operator' : 'resumed_by_operator' }, drained ? 'Drained by an operator: idling' : 'Resumed by an operator');
    if (!drained) return this.pump.pollAll();
    this.starts.giveBack('drain');
    for (const held of this.holdings.all()) this.giveBack(held, 'drain');
  }

  private async poll(): Promise<void> {
    this.pump.pollAll();
    await this.breaker.refresh();
  }

  private dropOverdue(): void {
    for (const held of this.holdings.loseOverdue()) {
      this.parts.log.warn({ event: 'lease_deadline', queue: held.lease.queue, row: held.lease.id }, 'A lease could not be renewed in time; its work was stopped');
    }
  }

  /** The row goes back at once, whether or not the handler heeds the signal: its token will refuse whatever it still tries to write. */
  private giveBack(held: Held, verb: GiveBackVerb): void {
    if (held.settling || held.ending) return;
    held.ending = true;
    if (verb === 'unstarted') this.claims.pace(held.lease.queue).reset();
    held.stop(new DrainedError('The row was given back.'));
    this.pump.end(held.lease.queue, { id: held.lease.id, token: held.lease.token, verb });
  }

  private async untilIdle(until: number): Promise<void> {
    while (this.holdings.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
