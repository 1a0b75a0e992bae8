/**
 * Repairs parents whose counter disagrees with their children (it never should; an operator's hand in the tables can make it so). Part of
 * the sweep. The parent is locked first and its children are counted by a later statement, whose snapshot therefore contains every child
 * that has counted itself down: a child's end and the count-down are one transaction.
 */
import { EVENT_COLUMNS } from './ending.js';
import type { Queryable } from './pump.js';
import { queueByTable, queues, type QueueDefinition } from './queues.js';

export const RECONCILE_BATCH = 200;

/** Inside the sweep's transaction. @returns the parents corrected, with the state they are in now. */
export async function reconcileParents(tx: Queryable, queue: QueueDefinition, registry = queues): Promise<{ id: string; state: string }[]> {
  const children = queue.children;
  const childQueue = children && queueByTable(children.queue, registry);
  if (!children || !childQueue) return [];
  const suspects = await tx.query({
    text: `select p.id from ${queue.table} p
            where p.state = 'awaiting'
              and p.open_children <> (select count(*) from ${childQueue.table} c where c.${children.column} = p.id and c.finished_at is null)
            order by p.id limit ${RECONCILE_BATCH} for update of p skip locked`,
  });
  if (suspects.rows.length === 0) return [];
  const { rows } = await tx.query({ text: correction(queue, childQueue), values: [suspects.rows.map((row) => row.id)] });
  return rows as { id: string; state: string }[];
}

function correction(queue: QueueDefinition, childQueue: QueueDefinition): string {
  const { column, whenEnded, noneSucceeded } = queue.children!;
  const toState = `case when n.open > 0 then 'awaiting' when n.succeeded > 0 then '${whenEnded}' else 'failed' end`;
  return `with counted as (
      select p.id, count(c.id) filter (where c.finished_at is null)::int as open, count(c.id) filter (where c.state = 'succeeded')::int as succeeded
        from unnest($1::uuid[]) as p(id) left join ${childQueue.table} c on c.${column} = p.id group by p.id),
    corrected as (
      update ${queue.table} p
         set open_children = n.open, succeeded_children = n.succeeded, state = ${toState}, queued_at = now(), run_after = now(),
             finished_at = case when ${toState} in ('succeeded', 'failed') then now() end,
             error_code = case when ${toState} = 'failed' then '${noneSucceeded.code}' end,
             error_message = case when ${toState} = 'failed' then '${noneSucceeded.message}' end,
             version = p.version + 1
        from counted n
       where p.id = n.id and p.state = 'awaiting' and (p.open_children <> n.open or n.open = 0)
      returning p.id, p.state, p.error_code),
    events as (
      insert into queue_events (${EVENT_COLUMNS})
      select '${queue.table}', id, null, 'awaiting', state, 'reconcile', null, null, null::bigint, null::int, null::int, error_code from corrected)
    select id, state from corrected`;
}
