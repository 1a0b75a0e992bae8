/**
 * Cancelling: not terminal → cancelled, bytes erased. A parent takes its open children with it in the same transaction. A holder learns of
 * it by the kick that names the lost leases, else by its next beat; its later writes hit zero rows anyway, since the state is not running.
 * Lock order: children by id, then parents by id.
 */
import { EVENT_COLUMNS, msSince, parentColumn, parentCtes, parentEvents } from './ending.js';
import type { Queryable } from './pump.js';
import { queueByTable, queues, type QueueDefinition } from './queues.js';

export interface Cancelled {
  /** Rows cancelled, by table. Rows that were already terminal are not among them. */
  rows: { queue: string; id: string }[];
  /** Those that a worker held: put them on the kick channel as `lost`. */
  lost: string[];
  /** Parents that became claimable because their last open child was cancelled. */
  parentsQueued: string[];
}

/** Must run in a transaction (40P01 is retried by its owner). @param message is shown on the row: who cancelled and why. */
export async function cancel(tx: Queryable, queue: QueueDefinition, ids: readonly string[], message: string, registry = queues): Promise<Cancelled> {
  const childQueue = queue.children && queueByTable(queue.children.queue, registry);
  const children = childQueue ? await cancelRows(tx, childQueue, `t.${queue.children!.column}`, ids, message, []) : [];
  const counted = childQueue ? childCounts(children) : [];
  const own = await cancelRows(tx, queue, 't.id', ids, message, counted, registry);
  const cancelled = own.filter((row) => row.tag === 'row');
  if (childQueue && queue.children?.madeByLease) await refuseNewborn(tx, childQueue, queue.children.column, cancelled.map((row) => row.id));
  return {
    rows: [...children.map((row) => ({ queue: childQueue!.table, id: row.id })), ...cancelled.map((row) => ({ queue: queue.table, id: row.id }))],
    lost: [...children, ...cancelled].filter((row) => row.was === 'running').map((row) => row.id),
    parentsQueued: own.filter((row) => row.tag === 'parent' && row.state === 'queued').map((row) => row.id),
  };
}

/**
 * A parent that makes its own children may have done so between our two statements. Taking them now would lock children after their parent;
 * the transaction is run again instead, and then sees them.
 */
async function refuseNewborn(tx: Queryable, childQueue: QueueDefinition, column: string, parents: readonly string[]): Promise<void> {
  const { rowCount } = await tx.query({ text: `select 1 from ${childQueue.table} where ${column} = any ($1::uuid[]) and finished_at is null limit 1`, values: [parents] });
  if (rowCount) throw Object.assign(new Error('Children came into being while their parent was cancelled'), { code: '40001' });
}

interface CancelledRow { tag: string; id: string; parent_id: string | null; state: string; was: string | null }

function childCounts(children: readonly CancelledRow[]): { id: string; ended: number }[] {
  const counts = new Map<string, number>();
  for (const child of children) counts.set(child.parent_id!, (counts.get(child.parent_id!) ?? 0) + 1);
  return [...counts].map(([id, ended]) => ({ id, ended }));
}

/** `registry` absent: the rows are children of a parent that is cancelled next, so their parents are not counted down here. */
async function cancelRows(tx: Queryable, queue: QueueDefinition, by: string, ids: readonly string[], message: string, counted: { id: string; ended: number }[], registry?: readonly QueueDefinition[]): Promise<CancelledRow[]> {
  const up = registry && queue.parent ? queue.parent : undefined;
  const { rows } = await tx.query({
    text: `with target as materialized (
        select t.id, t.state, t.worker_id, t.claimed_at from ${queue.table} t
         where ${by} = any ($1::uuid[]) and t.state in (${queue.states.filter(isOpen).map((state) => `'${state}'`).join(', ')})
         order by t.id for update of t),
      cancelled as (
        update ${queue.table} t
           set state = 'cancelled', finished_at = now(), worker_id = null, heartbeat_at = null, lease_expires_at = null,
               error_code = 'cancelled', error_message = $2,
               ${queue.children ? 'open_children = t.open_children - coalesce((select ended from unnest($3::uuid[], $4::int[]) as c(id, ended) where c.id = t.id), 0),' : ''}
               ${queue.erased.map((column) => `${column} = null,`).join(' ')} version = t.version + 1
          from target g where t.id = g.id
        returning t.id, ${parentColumn(queue)} as parent_id, g.state as was, t.state, t.lease_token, g.worker_id,
                  case when g.state = 'running' then ${msSince('g.claimed_at')} end as ran_ms)
      ${up ? parentCtes(queue, 'cancelled', registry) : ''},
      events as (
        insert into queue_events (${EVENT_COLUMNS})
        select '${queue.table}', id, parent_id, was, state, 'cancel', worker_id, null, lease_token, null::int, ran_ms, 'cancelled' from cancelled
        ${up ? parentEvents(queue) : ''})
      select 'row' as tag, id, parent_id, state, was from cancelled
      ${up ? `union all select 'parent', id, null, state, null from parents` : ''}`,
    values: [ids, message, ...(queue.children ? [counted.map((c) => c.id), counted.map((c) => c.ended)] : [])],
  });
  return rows as unknown as CancelledRow[];
}

function isOpen(state: string): boolean {
  return state === 'awaiting' || state === 'queued' || state === 'running';
}
