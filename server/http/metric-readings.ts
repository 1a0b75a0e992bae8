/** What the metrics say, read from the rows at each scrape. One transaction under a short statement limit; index-backed at any size. */
import type pg from 'pg';
import { inTransaction } from '../db/connection.js';
import { queues, type QueueDefinition } from '../lease/queues.js';
import { isHeld, isWaiting, wordsOfQueue } from '../lease/words.js';
import { actions } from '../operations/actions.js';

const STATEMENT_LIMIT_MS = 2_000;

export interface QueueReading {
  queue: string;
  rows: Record<string, number>;
  stale: number;
  /** Since the row that has been claimable for longest became so; 0 when none waits. */
  oldestWaitingSeconds: number;
}

/** One closed minute of one queue (server/lease/samples.ts). */
export interface MinuteReading {
  queue: string;
  minute: string;
  given_back: number;
  lost: number;
  late_writes: number;
  waits: number[];
  runs: number[];
}

export interface Readings {
  queues: QueueReading[];
  minutes: MinuteReading[];
  /** Publishes refused so far, by code. */
  refusals: Record<string, number>;
  /** What operators did and tried so far. */
  operatorActions: { action: string; outcome: string; n: number }[];
  lastSweepSeconds: number | null;
  webhook: WebhookReading;
}

/** What became of the webhook's messages and tries so far, and what waits. */
export interface WebhookReading {
  sent: number;
  failed: number;
  given_up: number;
  waiting: number;
}

/** @param after the last minute seen before (text as read), or null for those of the last two days. */
export function readMetrics(pool: pg.Pool, after: string | null): Promise<Readings> {
  return inTransaction(pool, async (tx) => {
    const read: QueueReading[] = [];
    for (const queue of queues) read.push(await readQueue(tx, queue));
    const sweep = await tx.query<{ at: number | null }>('select extract(epoch from last_run_at)::float8 as at from sweeps');
    return { queues: read, minutes: await readMinutes(tx, after), refusals: await readRefusals(tx), operatorActions: await readOperatorActions(tx), webhook: await readWebhook(tx), lastSweepSeconds: sweep.rows[0]?.at ?? null };
  }, { timeoutMs: STATEMENT_LIMIT_MS });
}

async function readQueue(tx: pg.PoolClient, queue: QueueDefinition): Promise<QueueReading> {
  const { done } = wordsOfQueue(queue);
  const counted = queue.states.filter((state) => state !== done);
  const { rows } = await tx.query<{ counts: number[]; stale: number; oldest: number; estimate: number }>(
    `select array[${counted.map((state) => `(select count(*)::int from ${queue.table} where ${stateCondition(state)})`).join(', ')}] as counts,
            (select count(*)::int from ${queue.table} where ${isHeld(queue)} and lease_expires_at < now()) as stale,
            (select coalesce(max(extract(epoch from now() - first.run_after))::float8, 0) from
               (select run_after from ${queue.table} where ${isWaiting(queue)} and run_after <= now() order by run_after limit 1) as first) as oldest,
            (select reltuples::float8 from pg_class where oid = $1::regclass) as estimate`,
    [queue.table],
  );
  const { counts, stale, oldest, estimate } = rows[0]!;
  const ended = await countDone(tx, queue, estimate, counts.reduce((sum, count) => sum + count, 0));
  const states = Object.fromEntries(counted.map((state, index) => [state, counts[index] ?? 0]));
  return { queue: queue.table, rows: { ...states, [done]: ended }, stale, oldestWaitingSeconds: oldest };
}

/** Spelled so that the partial indexes of open and of unsuccessful rows apply. */
function stateCondition(state: string): string {
  return state === 'awaiting' ? `state in ('awaiting', 'queued', 'running') and state = 'awaiting'` : `state = '${state}'`;
}

/** Rows up to this many are counted; beyond, the planner's estimate of the table less the others is near enough. */
const COUNTED_ROWS = 100_000;

async function countDone(tx: pg.PoolClient, queue: QueueDefinition, estimate: number, others: number): Promise<number> {
  if (estimate > COUNTED_ROWS) return Math.max(0, Math.round(estimate) - others);
  const { rows } = await tx.query<{ n: number }>(`select count(*)::int as n from ${queue.table} where state = '${wordsOfQueue(queue).done}'`);
  return rows[0]?.n ?? 0;
}

/** Every code that there is; those that never occurred read 0. The table grows with people's impatience, not with work, and has an index by code. */
async function readRefusals(tx: pg.PoolClient): Promise<Record<string, number>> {
  const { rows } = await tx.query<{ code: string; n: number }>(
    `select code, (select count(*)::int from publish_refusals r where r.code = c.code) as n
       from unnest(array['publish_in_progress', 'slug_taken', 'slug_fixed', 'queue_paused']) as c(code)`);
  return Object.fromEntries(rows.map((row) => [row.code, row.n]));
}

async function readWebhook(tx: pg.PoolClient): Promise<WebhookReading> {
  const { rows } = await tx.query<WebhookReading>(
    `select sent_total::float8 as sent, failed_total::float8 as failed, given_up_total::float8 as given_up,
       (select count(*)::int from webhook_messages where sent_at is null and withdrawn_at is null and given_up_at is null) as waiting from webhook`);
  return rows[0]!;
}

/** Every guarded action with both outcomes; those that never occurred read 0. Grows with what people do, and has an index by action. */
async function readOperatorActions(tx: pg.PoolClient): Promise<Readings['operatorActions']> {
  const { rows } = await tx.query<{ action: string; outcome: string; n: number }>(
    `select k.action, o.outcome, (select count(*)::int from operator_actions a where a.action = k.action and a.outcome = o.outcome) as n
       from (select unnest($1::text[]) union select action from (${distinctActions}) d) as k(action), unnest(array['applied', 'refused']) as o(outcome)`, [actions.map(({ name }) => name)]);
  return rows;
}

/** The names that occur, one step of the index a name. */
const distinctActions = `with recursive names as (
    (select action from operator_actions order by action limit 1)
    union all
    select (select a.action from operator_actions a where a.action > n.action order by a.action limit 1) from names n where n.action is not null)
  select action from names where action is not null`;

async function readMinutes(tx: pg.PoolClient, after: string | null): Promise<MinuteReading[]> {
  const { rows } = await tx.query<MinuteReading>(
    `select queue, minute::text, given_back, lost, late_writes, waits, runs from queue_minutes
      where minute > coalesce($1::timestamptz, now() - interval '2 days') order by minute`,
    [after],
  );
  return rows;
}

