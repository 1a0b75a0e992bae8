/**
 * What the sweep does to rows whose lease ran out: back to queued with `lost_leases` + 1, or failed as `worker_lost` at the limit.
 * One statement a batch; it repeats every condition and passes over locked rows, so a row that finished, was cancelled, renewed or claimed
 * again between read and write is untouched. Correct if it runs twice, late, or in two versions at once.
 */
import { EVENT_COLUMNS, msSince, parentColumn, parentCtes, parentEvents } from './ending.js';
import type { Queryable } from './pump.js';
import { queues, type QueueDefinition } from './queues.js';
import { isHeld, wordsOfQueue } from './words.js';

/** Rows in one statement: small enough that no beat waits long for their locks. */
export const SWEEP_BATCH = 500;

export interface Swept {
  requeued: string[];
  failed: string[];
  /** Parents whose counters moved. */
  parents: string[];
}

/** Sweeps up to SWEEP_BATCH rows. Call it inside the transaction that holds the sweep's advisory lock. */
export async function sweepExpired(tx: Queryable, queue: QueueDefinition, maxLostLeases: number, registry = queues): Promise<Swept> {
  const { rows } = queue.words
    ? await tx.query({ text: detachStatement(queue), values: [SWEEP_BATCH] })
    : await tx.query({ text: expiryStatement(queue, registry), values: [SWEEP_BATCH, maxLostLeases] });
  const ids = (tag: string, state?: string) => rows.filter((row) => row.tag === tag && (!state || row.state === state)).map((row) => row.id as string);
  return { requeued: ids('row', wordsOfQueue(queue).waiting), failed: ids('row', 'failed'), parents: ids('parent') };
}

function expiryStatement(queue: QueueDefinition, registry: readonly QueueDefinition[]): string {
  const poison = 't.lost_leases + 1 >= $2';
  return `with stale as materialized (
      select id, worker_id, claimed_at from ${queue.table}
       where state = 'running' and lease_expires_at < now()
       order by id limit $1 for update skip locked),
    swept as (
      update ${queue.table} t
         set state = case when ${poison} then 'failed' else 'queued' end,
             lost_leases = t.lost_leases + 1,
             queued_at = case when ${poison} then t.queued_at else now() end,
             finished_at = case when ${poison} then now() end,
             worker_id = null, heartbeat_at = null, lease_expires_at = null,
             error_code = case when ${poison} then 'worker_lost' else t.error_code end,
             error_message = case when ${poison} then 'Every worker that took this row ended before it could finish (' || t.lost_leases + 1 || ' leases lost). Look at the workers'' memory and logs before trying it again.' else t.error_message end,
             ${queue.erased.map((column) => `${column} = case when ${poison} then null else t.${column} end,`).join(' ')}
             version = t.version + 1
        from stale s
       where t.id = s.id and t.state = 'running' and t.lease_expires_at < now()
      returning t.id, ${parentColumn(queue)} as parent_id, t.state, t.lease_token, s.worker_id, t.error_code,
                ${msSince('s.claimed_at')} as ran_ms)
    ${parentCtes(queue, 'swept', registry)},
    events as (
      insert into queue_events (${EVENT_COLUMNS})
      select '${queue.table}', s.id, s.parent_id, 'running', s.state, case when s.state = 'failed' then 'poison' else 'sweep' end,
             s.worker_id, w.version, s.lease_token, null, s.ran_ms, s.error_code
        from swept s left join workers w on w.id = s.worker_id
      ${parentEvents(queue)})
    select 'row' as tag, id, state from swept
    ${queue.parent ? `union all select 'parent', id, state from parents` : ''}`;
}

/**
 * A lock is only detached from its dead worker: nobody may take what it guards because a sweep ran. It keeps its last beat, since the silence
 * after it decides when the lock may be taken over.
 */
function detachStatement(queue: QueueDefinition): string {
  return `with stale as materialized (
      select id, worker_id, claimed_at from ${queue.table}
       where ${isHeld(queue)} and lease_expires_at < now()
       order by id limit $1 for update skip locked),
    detached as (
      update ${queue.table} t
         set lost_leases = t.lost_leases + 1, queued_at = now(), worker_id = null, lease_expires_at = null, version = t.version + 1
        from stale s
       where t.id = s.id and ${isHeld(queue, 't')} and t.lease_expires_at < now()
      returning t.id, t.state, t.lease_token, s.worker_id, ${msSince('s.claimed_at')} as ran_ms),
    events as (
      insert into queue_events (${EVENT_COLUMNS})
      select '${queue.table}', d.id, null, d.state, d.state, 'detach', d.worker_id, w.version, d.lease_token, null::int, d.ran_ms, null
        from detached d left join workers w on w.id = d.worker_id)
    select 'row' as tag, id, state from detached`;
}
