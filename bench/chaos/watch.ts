/**
 * Looks four times a second for rows that lie idle although somebody could do something about them; what then exceeds lease + sweep + poll was
 * forgotten. The rest of the time is the outage.
 * - Held by a process that is dead or frozen: counts while there is any process that nothing is done to, since each of them sweeps.
 * - Due and waiting: counts while such a worker has a free slot, and has had it for a lease's time, since a handler whose lease is gone keeps its slot
 *   until it returns. Under load there is seldom one: what waits then is judged by the log (verdict.ts, overtaken).
 * - A look that comes late counts for nothing: the machine had no turn to give, to us or to the processes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { queues } from '../../server/lease/queues.js';
import { isHeld, isWaiting } from '../../server/lease/words.js';
import type { Slot } from './fleet.js';
import { LIMITS, PROMISED_WAIT_MS, SETTINGS, SLACK_MS } from './settings.js';
import type { Stage } from './stage.js';

const EVERY_MS = 250;
/** A look that took longer than this (ms) came late. */
const LATE_MS = 750;

interface OpenRow {
  queue: string;
  id: string;
  token: string;
  holder: string | null;
  /** It waits and is due, its queue neither paused nor resting. */
  due: boolean;
}

export interface LongWait {
  queue: string;
  id: string;
  idleMs: number;
  /** On the monotonic clock, from the beginning (ms): when it was noticed. */
  at: number;
}

const OPEN = queues.map((queue) => `select '${queue.table}' as queue, id, lease_token::text as token, case when ${isHeld(queue)} then worker_id end as holder,
    ${isWaiting(queue)} and run_after <= now() and not exists (select 1 from queue_pauses p where p.queue = '${queue.table}') and not exists (select 1 from breakers b where b.queue = '${queue.table}') as due
  from ${queue.table} where (${isHeld(queue)}) or (${isWaiting(queue)})`).join(' union all ');

/** Somebody's transaction has been left open for a second: a frozen process keeps its locks until the server ends it, after ten. */
const STUCK = `select 1 from pg_stat_activity where datname = current_database() and state = 'idle in transaction' and state_change < now() - interval '1 second' and application_name <> 'chaos' limit 1`;

export class Watch {
  /** The longest that any row lay idle (ms). */
  longestMs = 0;
  readonly tooLong: LongWait[] = [];
  samples = 0;
  /** Samples in which no waiting row could have been taken: all were busy, or done something to, or the look came late. */
  helpless = 0;
  /** Samples that came late. */
  late = 0;
  /** By worker: when it was last seen with all slots in use (performance.now()). */
  private readonly full = new Map<string, number>();
  private readonly idle = new Map<string, { token: string; ms: number; told: boolean }>();
  private stopped = false;
  private last = performance.now();

  constructor(private readonly stage: Stage, private readonly now: () => number) {}

  async run(): Promise<void> {
    while (!this.stopped) {
      await this.look().catch(() => { this.last = performance.now(); }); // the database is away
      await pause(EVERY_MS);
    }
  }

  stop(): void {
    this.stopped = true;
  }

  private async look(): Promise<void> {
    const [{ rows }, stuck] = await Promise.all([this.stage.admin.query<OpenRow>(OPEN), this.stage.admin.query(STUCK)]);
    const sinceMs = performance.now() - this.last;
    this.last = performance.now();
    this.samples += 1;
    if (sinceMs > LATE_MS) this.late += 1;
    const working = this.stage.fleet.slots.filter((slot) => slot.role === 'worker' && slot.ready && !slot.frozen);
    const counts = stuck.rowCount === 0 && sinceMs <= LATE_MS;
    const [canTake, canSweep] = [this.someSlotIsFree(rows, working), this.stage.fleet.slots.some((slot) => this.stage.fleet.isHealthy(slot))];
    if (!counts || !canTake) this.helpless += 1;
    const deserted = rows.filter(({ holder }) => holder !== null && !working.some(({ identity }) => identity === holder));
    this.forgetOthers([...rows.filter(({ due }) => due), ...deserted]);
    this.add(rows.filter(({ due }) => due), counts && canTake ? sinceMs : 0);
    this.add(deserted, counts && canSweep ? sinceMs : 0);
  }

  private someSlotIsFree(rows: readonly OpenRow[], working: readonly Slot[]): boolean {
    for (const { identity } of working) if (rows.filter(({ holder }) => holder === identity).length >= Number(SETTINGS.WORKER_CONCURRENCY)) this.full.set(identity, performance.now());
    const freeFor = ({ identity }: Slot) => performance.now() - (this.full.get(identity) ?? -Infinity);
    return working.some((slot) => this.stage.fleet.isHealthy(slot) && freeFor(slot) > LIMITS.leaseSeconds * 1000);
  }

  private forgetOthers(rows: readonly OpenRow[]): void {
    const seen = new Set(rows.map(({ queue, id }) => `${queue}/${id}`));
    for (const key of this.idle.keys()) if (!seen.has(key)) this.idle.delete(key);
  }

  private add(rows: readonly OpenRow[], ms: number): void {
    for (const { queue, id, token } of rows) {
      const key = `${queue}/${id}`;
      const before = this.idle.get(key);
      const entry = before?.token === token ? before : { token, ms: 0, told: false };
      entry.ms += ms;
      this.idle.set(key, entry);
      this.longestMs = Math.max(this.longestMs, entry.ms);
      if (entry.told || entry.ms <= PROMISED_WAIT_MS + SLACK_MS) continue;
      entry.told = true;
      this.tooLong.push({ queue, id, idleMs: Math.round(entry.ms), at: this.now() });
    }
  }
}
