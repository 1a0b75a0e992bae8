/**
 * One statement a beat for all leases of a process, over all its queues. Safe to repeat, safe to lose: a failed beat changes nothing and is tried again.
 *
 * Promises
 * - Touches no indexed column, so that each beat is a HOT update; emits no notification.
 * - A row that someone has locked just now (its own settle, a sweep that has not committed) is `skipped`, never waited for: ask again.
 * - Only `gone` means lost: the row is not running under this token any more.
 * May run with synchronous_commit = off: a lost beat costs at most one lease, never a token.
 */
import type { Queryable } from './pump.js';
import { queues, type QueueDefinition } from './queues.js';
import { isHeld } from './words.js';

export interface Beat {
  queue: string;
  id: string;
  token: string;
  /** Progress since the last beat, if any: how much is done of how much. */
  progress?: { done: number; total: number };
}

export type Renewal = 'renewed' | 'skipped' | 'gone';

const statements = new Map<string, string>();

/** @param leaseSeconds from the database's now(). @returns by `queue/id`. Needs no transaction. */
export async function renew(db: Queryable, beats: readonly Beat[], leaseSeconds: number, registry = queues): Promise<Map<string, Renewal>> {
  if (beats.length === 0) return new Map();
  const held = registry.filter((queue) => beats.some((beat) => beat.queue === queue.table));
  const { rows } = await db.query({
    text: renewStatement(held),
    values: [
      beats.map((b) => b.queue), beats.map((b) => b.id), beats.map((b) => b.token),
      beats.map((b) => b.progress?.done ?? null), beats.map((b) => b.progress?.total ?? null), leaseSeconds,
    ],
  });
  return new Map(rows.map((row) => [`${row.queue}/${row.id}`, row.renewal as Renewal]));
}

function renewStatement(held: readonly QueueDefinition[]): string {
  const key = held.map((queue) => queue.table).join();
  const text = statements.get(key) ?? buildStatement(held);
  statements.set(key, text);
  return text;
}

function buildStatement(held: readonly QueueDefinition[]): string {
  const ctes = held.map((queue, n) => `
    locked_${n} as materialized (
      select t.id, b.done, b.total from beats b join ${queue.table} t on t.id = b.id
       where b.queue = '${queue.table}' and ${isHeld(queue, 't')} and t.lease_token = b.token
       order by t.id for update of t skip locked),
    renewed_${n} as (
      update ${queue.table} t
         set heartbeat_at = now(), lease_expires_at = now() + $6::double precision * interval '1 second',
             done = coalesce(l.done, t.done), total = coalesce(l.total, t.total),
             progressed_at = case when l.done is distinct from t.done and l.done is not null then now() else t.progressed_at end,
             version = t.version + 1
        from locked_${n} l where t.id = l.id
      returning t.id)`);
  const answers = held.map((queue, n) => `
    select b.queue, b.id,
           case when r.id is not null then 'renewed' when t.id is not null then 'skipped' else 'gone' end as renewal
      from beats b
      left join renewed_${n} r on r.id = b.id
      left join ${queue.table} t on t.id = b.id and ${isHeld(queue, 't')} and t.lease_token = b.token
     where b.queue = '${queue.table}'`);
  return `with beats as materialized (
      select * from unnest($1::text[], $2::uuid[], $3::bigint[], $4::int[], $5::int[]) as b(queue, id, token, done, total)),
    ${ctes.join(', ')} ${answers.join(' union all ')}`;
}
