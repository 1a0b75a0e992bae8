/**
 * Giving leases back, nothing charged. `run_after` is kept, so the rows stand at the front again: the kick that follows must say `low`.
 * (A drain gives back through the pump, verb `drain`.)
 */
import { EVENT_COLUMNS, msSince, parentColumn } from './ending.js';
import type { Holder, Queryable } from './pump.js';
import type { QueueDefinition } from './queues.js';
import { isHeld, wordsOfQueue } from './words.js';

/**
 * Gives back every row that carries this process's identity and is not in its own set: after a broken connection the answer to an acquire
 * may be lost, and such a row would wait for its whole lease. Needs no transaction. Only the process itself may call it, and only while no
 * acquire of its own is in flight. @returns the ids given back.
 */
export async function giveBackUnknown(db: Queryable, queue: QueueDefinition, holder: Holder, known: readonly string[]): Promise<string[]> {
  const { rows } = await db.query({
    text: `with unknown as materialized (
             select id, claimed_at from ${queue.table}
              where ${isHeld(queue)} and worker_id = $1 and id <> all ($2::uuid[]) order by id for update skip locked),
           given as (
             update ${queue.table} t
                set state = '${wordsOfQueue(queue).waiting}', queued_at = now(), worker_id = null, heartbeat_at = ${queue.words ? 'now()' : 'null'}, lease_expires_at = null, version = t.version + 1
               from unknown u where t.id = u.id and ${isHeld(queue, 't')} and t.worker_id = $1
             returning t.id, ${parentColumn(queue)} as parent_id, t.lease_token, ${msSince('u.claimed_at')} as ran_ms),
           events as (
             insert into queue_events (${EVENT_COLUMNS})
             select '${queue.table}', id, parent_id, '${wordsOfQueue(queue).held}', '${wordsOfQueue(queue).waiting}', 'answer_lost', $1, $3, lease_token, null, ran_ms, null from given)
           select id from given`,
    values: [holder.workerId, known, holder.version],
  });
  return rows.map((row) => row.id as string);
}
