/**
 * The six-hour safety net for staged bytes: a queued row whose bytes are older than the TTL fails as `blob_expired`. The clock of the TTL
 * (queue_clocks) runs only while the queue is not paused and a worker that knows the row lives, so an outage of ours never costs a customer's upload.
 */
import { EVENT_COLUMNS, parentColumn, parentCtes, parentEvents } from './ending.js';
import { SWEEP_BATCH } from './expiry.js';
import { takesWork } from './processes.js';
import type { Queryable } from './pump.js';
import { queues, type QueueDefinition } from './queues.js';

/**
 * Advances the queue's clock by the time since its last tick, if the queue could have been worked on. At most two sweep intervals count, so
 * that time when no sweep ran does not. For a row of a kind or schema version that no live worker knows the clock stands still too: its own
 * mark moves on with the clock, so that a newer worker finds it as old as it was. What is known is read from the registry of processes, so
 * sweeps of two versions agree. Inside the sweep's transaction.
 */
export async function tickStagedClock(tx: Queryable, queue: QueueDefinition, sweepSeconds: number): Promise<void> {
  if (!queue.staged) return;
  await tx.query({ text: tickStatement(queue, queue.staged.clockColumn), values: [queue.table, sweepSeconds] });
}

function tickStatement({ table, capability }: QueueDefinition, clockColumn: string): string {
  return `with known as materialized (
      select k.kind, max(k.version::int) as version from workers w, jsonb_each_text(w.kinds -> '${table}') as k(kind, version)
       where ${takesWork('w')} and '${capability}' = any (w.capabilities) group by k.kind),
    elapsed as materialized (
      select case when exists (select 1 from queue_pauses p where p.queue = c.queue) or not exists (select 1 from known) then 0
                  else least(extract(epoch from now() - c.ticked_at)::double precision, $2::double precision * 2) end as seconds
        from queue_clocks c where c.queue = $1 for update),
    ticked as (
      update queue_clocks c set ticked_at = now(), ran_seconds = c.ran_seconds + e.seconds from elapsed e where c.queue = $1),
    unknown as materialized (
      select t.id from ${table} t
       where t.state = 'queued' and not exists (select 1 from known k where k.kind = t.kind and k.version >= t.schema_version)
         and (select seconds from elapsed) > 0
       order by t.id for update of t skip locked)
    update ${table} t set ${clockColumn} = t.${clockColumn} + e.seconds from elapsed e, unknown u where t.id = u.id and t.state = 'queued'`;
}

/** Fails up to SWEEP_BATCH queued rows whose bytes outlived the TTL (seconds on the queue's clock). Inside the sweep's transaction. */
export async function expireStaged(tx: Queryable, queue: QueueDefinition, ttlSeconds: number, registry = queues): Promise<{ expired: string[]; parents: string[] }> {
  if (!queue.staged) return { expired: [], parents: [] };
  const { rows } = await tx.query({ text: expireStatement(queue, queue.staged.clockColumn, registry), values: [SWEEP_BATCH, ttlSeconds] });
  const ids = (tag: string) => rows.filter((row) => row.tag === tag).map((row) => row.id as string);
  return { expired: ids('row'), parents: ids('parent') };
}

function expireStatement(queue: QueueDefinition, clockColumn: string, registry: readonly QueueDefinition[]): string {
  return `with old as materialized (
      select t.id from ${queue.table} t join queue_clocks c on c.queue = '${queue.table}'
       where t.state = 'queued' and c.ran_seconds - t.${clockColumn} > $2
       order by t.id limit $1 for update of t skip locked),
    expired as (
      update ${queue.table} t
         set state = 'failed', finished_at = now(), error_code = 'blob_expired',
             error_message = 'The uploaded file waited longer than staged files are kept and was erased. Please upload it again.',
             ${queue.erased.map((column) => `${column} = null,`).join(' ')} version = t.version + 1
        from old where t.id = old.id and t.state = 'queued'
      returning t.id, ${parentColumn(queue)} as parent_id, t.state, t.lease_token, t.error_code)
    ${parentCtes(queue, 'expired', registry)},
    events as (
      insert into queue_events (${EVENT_COLUMNS})
      select '${queue.table}', id, parent_id, 'queued', state, 'expire', null, null, lease_token, null, null::int, error_code from expired
      ${parentEvents(queue)})
    select 'row' as tag, id from expired
    ${queue.parent ? `union all select 'parent', id from parents` : ''}`;
}
