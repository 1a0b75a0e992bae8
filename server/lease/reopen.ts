/**
 * Rows that wait are offered again at once; rows that have ended without success are queued again with fresh counters. The lease token goes
 * on from where it was, so no old holder can ever write into the new life of a row. Lock order: children by id, then their parents by id.
 */
import { EVENT_COLUMNS, parentColumn } from './ending.js';
import type { Queryable } from './pump.js';
import { queueByTable, queues, type QueueDefinition } from './queues.js';
import { isWaiting, wordsOfQueue } from './words.js';

/** A row that waits, its backoff included, may be taken now. Kick `{ q, low }` in the same transaction. @returns whether it was waiting. */
export async function offerAgain(tx: Queryable, queue: QueueDefinition, id: string): Promise<boolean> {
  const { waiting } = wordsOfQueue(queue);
  const { rowCount } = await tx.query({
    text: `with offered as (
             update ${queue.table} t set run_after = least(t.run_after, now()), version = t.version + 1 where t.id = $1 and ${isWaiting(queue, 't')}
             returning t.id, ${parentColumn(queue)} as parent_id, t.lease_token),
           events as (
             insert into queue_events (${EVENT_COLUMNS})
             select '${queue.table}', id, parent_id, '${waiting}', '${waiting}', 'rekick', null, null, lease_token, null::int, null::int, null from offered)
           select id from offered`,
    values: [id],
  });
  return rowCount === 1;
}

export interface Reopened {
  /** Rows queued again. */
  rows: string[];
  /** Their parents, now awaiting them. */
  parents: string[];
}

/**
 * Queues the rows of `ids` that have failed or were cancelled, and lets their parents await them again. Not for a queue with words of its own
 * (a lock is taken anew instead). Must run in a transaction that kicks the queue; the caller decides beforehand, under the user's lock, whether
 * the input still exists and the caps allow it.
 */
export async function reopen(tx: Queryable, queue: QueueDefinition, ids: readonly string[], registry = queues): Promise<Reopened> {
  if (queue.words) throw new Error(`expected a queue whose rows end for good, got ${queue.table}`);
  const { rows } = await tx.query({
    text: `with target as materialized (
             select t.id, t.state from ${queue.table} t where t.id = any ($1::uuid[]) and t.state in ('failed', 'cancelled') order by t.id for update of t),
           reopened as (
             update ${queue.table} t
                set state = 'queued', attempt = 0, lost_leases = 0, run_after = now(), queued_at = now(), finished_at = null,
                    error_code = null, error_message = null, done = null, total = null, progressed_at = null, version = t.version + 1
               from target g where t.id = g.id
             returning t.id, ${parentColumn(queue)} as parent_id, g.state as was, t.lease_token)
             ${parentsAwait(queue, registry)},
           events as (
             insert into queue_events (${EVENT_COLUMNS})
             select '${queue.table}', id, parent_id, was, 'queued', 'rekick', null, null, lease_token, null::int, null::int, null from reopened
             ${queue.parent ? `union all select '${queue.parent.queue}', id, null, was, 'awaiting', 'rekick', null, null, null::bigint, null::int, null::int, null from parents where was <> 'awaiting'` : ''})
           select 'row' as tag, id from reopened
           ${queue.parent ? `union all select 'parent', id from parents` : ''}`,
    values: [ids],
  });
  const of = (tag: string) => rows.filter((row) => row.tag === tag).map((row) => row.id as string);
  return { rows: of('row'), parents: of('parent') };
}

function parentsAwait(queue: QueueDefinition, registry: readonly QueueDefinition[]): string {
  if (!queue.parent) return '';
  const parent = queueByTable(queue.parent.queue, registry)!;
  return `, again as materialized (select parent_id as id, count(*)::int as n from reopened group by parent_id),
    parents_locked as materialized (select p.id, p.state from ${parent.table} p where p.id in (select id from again) order by p.id for update),
    parents as (
      update ${parent.table} p
         set state = 'awaiting', open_children = p.open_children + a.n, finished_at = null, error_code = null, error_message = null, version = p.version + 1
        from again a join parents_locked l on l.id = a.id where p.id = a.id
      returning p.id, l.state as was)`;
}
