/**
 * The six-hour safety net for staged bytes: a queued row whose bytes are older than the TTL fails as `blob_expired`. The clock of the TTL
 * (queue_clocks) runs only while the queue is not paused and a capable worker lives, so an outage of ours never costs a customer's upload.
 */
import { EVENT_COLUMNS, parentColumn, parentCtes, parentEvents } from './ending.js';
import { SWEEP_BATCH } from './expiry.js';
import type { Queryable } from './pump.js';
import { queues, type QueueDefinition } from './queues.js';

/** Advances the queue's clock by the time since its last tick, if the queue could have been worked on. At most two sweep intervals count, so that time when no sweep ran does not. */
export async function tickStagedClock(tx: Queryable, queue: QueueDefinition, sweepSeconds: number): Promise<void> {
  await tx.query({
    text: `update queue_clocks c
              set ticked_at = now(),
                  ran_seconds = c.ran_seconds + case
                    when exists (select 1 from queue_pauses p where p.queue = c.queue) then 0
                    when not exists (select 1 from workers w where w.stopped_at is null and w.gone_at is null and w.draining_since is null
                                       and $2 = any (w.capabilities) and w.heartbeat_at > now() - 3 * w.heartbeat_seconds * interval '1 second') then 0
                    else least(extract(epoch from now() - c.ticked_at)::double precision, $3::double precision * 2) end
            where c.queue = $1`,
    values: [queue.table, queue.capability, sweepSeconds],
  });
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
