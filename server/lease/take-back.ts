/**
 * An operator takes a lease away from its holder: a stale one (its time has run out on the database clock), or any by force. The row waits
 * again, at the front, and the failures of its work are not counted up. The token stays; whatever the old holder still writes repeats it and
 * meets a row that is not held, or is held under the next token.
 */
import { EVENT_COLUMNS, msSince, parentColumn } from './ending.js';
import type { Queryable } from './pump.js';
import type { QueueDefinition } from './queues.js';
import { isHeld, wordsOfQueue } from './words.js';

export interface TakenBack {
  workerId: string;
  state: string;
  lostLeases: number;
  version: number;
}

/**
 * One statement; zero rows (undefined) means that the guard did not hold. Must run in a transaction that kicks `{ lost }` and `{ q, low }`.
 * `token`: the lease that the operator saw. `how` stale: only past its expiry, and a lost lease is charged unless its worker is known to be gone.
 */
export async function takeBack(tx: Queryable, queue: QueueDefinition, id: string, token: string, how: 'stale' | 'force'): Promise<TakenBack | undefined> {
  const mine = `t.id = $1 and ${isHeld(queue, 't')} and t.lease_token = $2${how === 'stale' ? ' and t.lease_expires_at < now()' : ''}`;
  const { held, waiting } = wordsOfQueue(queue);
  const { rows } = await tx.query({
    text: `with lease as materialized (select t.id, t.worker_id, t.claimed_at from ${queue.table} t where ${mine} for update of t),
           taken as (
             update ${queue.table} t
                set state = '${waiting}', queued_at = now(), worker_id = null, ${queue.words ? '' : 'heartbeat_at = null, '}lease_expires_at = null,
                    lost_leases = t.lost_leases + ${how === 'stale' ? `(exists (select 1 from workers w where w.id = l.worker_id and w.stopped_at is null and w.gone_at is null))::int` : '0'},
                    version = t.version + 1
               from lease l
              -- the guard again: the row that is changed is the row that is judged
              where t.id = l.id and ${mine}
             returning t.id, ${parentColumn(queue)} as parent_id, t.state, t.lease_token, t.lost_leases, t.version, l.worker_id, ${msSince('l.claimed_at')} as ran_ms),
           events as (
             insert into queue_events (${EVENT_COLUMNS})
             select '${queue.table}', k.id, k.parent_id, '${held}', k.state, '${how === 'stale' ? 'release' : 'force_release'}', k.worker_id, w.version, k.lease_token, null::int, k.ran_ms, null
               from taken k left join workers w on w.id = k.worker_id)
           select worker_id as "workerId", state, lost_leases as "lostLeases", version::float8 as version from taken`,
    values: [id, token],
  });
  return rows[0] as TakenBack | undefined;
}
