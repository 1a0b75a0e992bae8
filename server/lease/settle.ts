/**
 * Ends leases. Idempotent: an end that is sent again after a lost answer is recognised by its event under the same token and counts as done.
 * Anything else that changed nothing is a lost lease: its result is thrown away and a `late_write` event is recorded.
 */
import type pg from 'pg';
import { fence } from './fence.js';
import { LeaseLostError } from './errors.js';
import type { Ending, Verb } from './ending.js';
import type { Lease } from './lease.js';
import { pump, type Holder, type PumpResult, type Queryable } from './pump.js';
import { queues, type QueueDefinition } from './queues.js';
import { isHeld, wordsOfQueue } from './words.js';

export type Settled = 'settled' | 'already' | 'lost';

/**
 * By which of its causes an end is recognised as done. Not by the row's state: a sweep puts the row back to queued as a retry does, and after
 * a retry someone else may hold it already. A give-back has nothing left to do once the lease has had another end of its own.
 */
const DONE_BY: Record<Verb, readonly string[]> = {
  succeed: ['succeed'],
  fail: ['fail'],
  retry: ['retry', 'fail'],
  outage: ['outage'],
  await: ['await'],
  wait: ['wait'],
  drain: ['drain', 'unstarted', 'succeed', 'fail', 'retry', 'outage', 'await', 'wait', 'cancel', 'release', 'answer_lost'],
  unstarted: ['unstarted', 'drain', 'cancel', 'release', 'answer_lost'],
};

/** Ends several leases of one queue in one statement, one a row. @returns what became of each, by row id. Needs no transaction. */
export async function settle(db: Queryable, queue: QueueDefinition, holder: Holder, endings: readonly Ending[], registry = queues): Promise<Map<string, Settled>> {
  const { missed } = await pump(db, queue, holder, { endings, claim: 0 }, registry);
  const late = await classifyMissed(db, queue, holder, missed);
  return new Map(endings.map((ending) => [ending.id, late.get(ending) ?? 'settled']));
}

/**
 * Tells "already ended by me" from "lost" for endings that changed nothing, and records the lost ones as late writes. The log decides: the
 * event of an end is written by the statement that made it, and under one token a row leaves running once.
 */
export async function classifyMissed(db: Queryable, queue: QueueDefinition, holder: Holder, missed: readonly Ending[]): Promise<Map<Ending, Settled>> {
  if (missed.length === 0) return new Map();
  const { rows } = await db.query({
    text: `select m.id, m.token::text as token, e.cause from unnest($1::uuid[], $2::bigint[]) as m(id, token)
             join queue_events e on e.row_id = m.id and e.lease_token = m.token and e.queue = $3 and e.from_state = '${wordsOfQueue(queue).held}' and e.to_state is not null
             ${queue.words ? `and e.cause <> 'acquire'` : ''}`,
    values: [missed.map((ending) => ending.id), missed.map((ending) => ending.token), queue.table],
  });
  const causes = new Map(rows.map((row) => [`${row.id}/${row.token}`, row.cause as string]));
  const verdicts = new Map(missed.map((ending): [Ending, Settled] => {
    const cause = causes.get(`${ending.id}/${ending.token}`);
    return [ending, cause !== undefined && DONE_BY[ending.verb].includes(cause) ? 'already' : 'lost'];
  }));
  await recordLateWrites(db, queue, holder, missed.filter((ending) => verdicts.get(ending) === 'lost'));
  return verdicts;
}

/** One `late_write` event a refused write. The row itself is untouched. */
export async function recordLateWrites(db: Queryable, queue: QueueDefinition, holder: Holder, late: readonly { id: string; token: string }[]): Promise<void> {
  if (late.length === 0) return;
  await db.query({
    text: `insert into queue_events (queue, row_id, cause, worker_id, worker_version, lease_token)
           select $1, id, 'late_write', $2, $3, token from unnest($4::uuid[], $5::bigint[]) as l(id, token)`,
    values: [queue.table, holder.workerId, holder.version, late.map((l) => l.id), late.map((l) => l.token)],
  });
}

export interface ApplyAndSucceed {
  apply?: (tx: pg.PoolClient) => Promise<void>;
  set?: Record<string, unknown>;
  /** Children that `apply` inserts and that have not ended: the row awaits them. Zero: it succeeds. */
  await?: number;
}

/** How a lease ends whose work is done. */
export function doneVerb(outcome: ApplyAndSucceed): 'succeed' | 'await' {
  return outcome.await ? 'await' : 'succeed';
}

/**
 * Ends one lease whose work is done inside the caller's transaction: locks the row under its token, lets the handler write, adds its columns,
 * ends the row. A row that is to await its children counts them in here: nobody sees the count before the children, nor the children before it.
 * @throws LeaseLostError when the token is no longer current: the caller must roll back.
 * @returns the pump's result, whose parents may have become claimable (kick them after the commit).
 */
export async function succeedWithin(tx: pg.PoolClient, queue: QueueDefinition, holder: Holder, lease: Lease, outcome: ApplyAndSucceed, registry = queues): Promise<PumpResult> {
  await fence(tx, lease, registry);
  await outcome.apply?.(tx);
  await setColumns(tx, queue, lease, { ...outcome.set, ...(outcome.await === undefined ? {} : { open_children: outcome.await }) });
  const result = await pump(tx, queue, holder, { endings: [{ id: lease.id, token: lease.token, verb: doneVerb(outcome) }], claim: 0 }, registry);
  if (result.missed.length > 0) throw new LeaseLostError(lease.queue, lease.id, lease.token, 'the settling statement changed nothing');
  return result;
}

async function setColumns(tx: pg.PoolClient, queue: QueueDefinition, lease: Lease, set: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(set);
  if (columns.length === 0) return;
  const assignments = columns.map((column, index) => `${column} = $${index + 3}`).join(', ');
  const { rowCount } = await tx.query({
    text: `update ${queue.table} set ${assignments} where id = $1 and ${isHeld(queue)} and lease_token = $2`,
    values: [lease.id, lease.token, ...columns.map((column) => set[column])],
  });
  if (rowCount !== 1) throw new LeaseLostError(lease.queue, lease.id, lease.token, 'the row is not held under this token');
}
