/**
 * The one statement family through which a lease ends and a row becomes held. The pump joins both halves in one round trip;
 * settle and acquire alone are the same statement with the other half empty.
 *
 * Promises
 * - Every end repeats `state = 'running' and lease_token = $token`. Zero rows: the lease is lost and nothing was written.
 * - A terminal row has no lease columns and no bytes, and its parent's open_children has gone down by one, in this statement.
 * - Each transition writes one queue_events row in this statement.
 * - Lock order: children by ascending id, then parents by ascending id; claimable rows are only ever taken with SKIP LOCKED.
 *
 * A crash before the commit leaves the rows running: the lease runs out and the sweep takes over. A crash after it loses only the
 * answer: the row says "ended, my token" (see settle.ts), and claimed rows that nobody knows are given back (see release.ts).
 */
import type { QueueDefinition } from './queues.js';
import { queueByTable, queues } from './queues.js';

/** How a lease ends, from the holder's side. */
export type Verb = 'succeed' | 'fail' | 'retry' | 'outage' | 'drain';

export interface Ending {
  id: string;
  token: string;
  verb: Verb;
  code?: string;
  message?: string;
  /** Retry and outage: how long the row waits, in milliseconds. */
  delayMs?: number;
}

const TERMINAL = `('succeeded', 'failed', 'cancelled')`;

/** CTE `held`: the rows whose lease the caller still has, locked in id order, with the state they go to. Parameters $1..$6. */
function heldCte(queue: QueueDefinition): string {
  return `held as materialized (
    select t.id, e.token, e.verb, e.code, e.message, e.delay, t.claimed_at, t.worker_id,
           case e.verb when 'succeed' then 'succeeded' when 'fail' then 'failed'
                when 'retry' then case when t.attempt + 1 >= t.max_attempts then 'failed' else 'queued' end
                else 'queued' end as to_state
      from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::double precision[]) as e(id, token, verb, code, message, delay)
      join ${queue.table} t on t.id = e.id
     where t.state = 'running' and t.lease_token = e.token
     order by t.id
       for update of t)`;
}

/** CTE `ended`: the update of the held rows. An operator's or a drain's give-back keeps run_after, so that the row stays at the front. */
function endedCte(queue: QueueDefinition): string {
  return `ended as (
    update ${queue.table} t
       set state = h.to_state,
           attempt = t.attempt + (h.verb in ('retry', 'fail'))::int,
           run_after = case when h.to_state = 'queued' and h.verb in ('retry', 'outage') then now() + h.delay * interval '1 millisecond' else t.run_after end,
           queued_at = case when h.to_state = 'queued' then now() else t.queued_at end,
           finished_at = case when h.to_state = 'queued' then null else now() end,
           worker_id = null, heartbeat_at = null, lease_expires_at = null,
           error_code = case when h.verb = 'succeed' then null when h.verb = 'drain' then t.error_code else h.code end,
           error_message = case when h.verb = 'succeed' then null when h.verb = 'drain' then t.error_message else h.message end,
           ${queue.erased.map((column) => `${column} = case when h.to_state = 'queued' then t.${column} end,`).join(' ')}
           version = t.version + 1
      from held h
     where t.id = h.id
    returning t.id, ${parentColumn(queue)} as parent_id, 'running'::text as from_state, t.state, h.verb as cause, h.worker_id, h.token,
              (extract(epoch from now() - h.claimed_at) * 1000)::int as ran_ms, t.error_code)`;
}

export function parentColumn(queue: QueueDefinition): string {
  return queue.parent ? `t.${queue.parent.column}` : 'null::uuid';
}

/**
 * CTEs that carry the terminal rows of CTE `from` to their parents. A count over siblings in one statement never closes (two settle
 * at once, each sees the other open), so the parent counts down and the same UPDATE flips it at zero. Empty for a queue without parent.
 */
export function parentCtes(queue: QueueDefinition, from: string, registry = queues): string {
  if (!queue.parent) return '';
  const parent = queueByTable(queue.parent.queue, registry);
  if (!parent?.children) throw new Error(`expected the parent queue of ${queue.table} to declare its children, got none`);
  const { whenEnded, noneSucceeded } = parent.children;
  const last = `p.state = 'awaiting' and p.open_children - c.ended = 0`;
  const toState = `case when ${last} then case when p.succeeded_children + c.succeeded > 0 then '${whenEnded}' else 'failed' end else p.state end`;
  const fails = `${last} and p.succeeded_children + c.succeeded = 0`;
  return `, closing as materialized (
    select parent_id as id, count(*)::int as ended, (count(*) filter (where state = 'succeeded'))::int as succeeded
      from ${from} where state in ${TERMINAL} group by parent_id),
  parents_locked as materialized (
    select p.id from ${parent.table} p where p.id in (select id from closing) order by p.id for update),
  parents as (
    update ${parent.table} p
       set open_children = p.open_children - c.ended,
           succeeded_children = p.succeeded_children + c.succeeded,
           state = ${toState},
           run_after = case when ${last} then now() else p.run_after end,
           queued_at = case when ${last} then now() else p.queued_at end,
           finished_at = case when ${toState} in ${TERMINAL} then coalesce(p.finished_at, now()) end,
           error_code = case when ${fails} then '${noneSucceeded.code}' else p.error_code end,
           error_message = case when ${fails} then '${noneSucceeded.message}' else p.error_message end,
           version = p.version + 1
      from closing c join parents_locked l on l.id = c.id
     where p.id = c.id
    returning p.id, p.state, p.open_children, p.error_code)`;
}

/** SELECT of the events of the parents that CTE `parents` has just flipped (a child's end flips a parent only at zero). */
export function parentEvents(queue: QueueDefinition): string {
  if (!queue.parent) return '';
  return `union all
    select '${queue.parent.queue}', id, null, 'awaiting', state, 'children', null, null, null::bigint, null::int, null::int, error_code
      from parents where open_children = 0 and state <> 'cancelled'`;
}

/** CTE `claimed`. $7 worker id, $8 version, $9 lease in seconds, $10 limit, $11 low-water mark. */
function claimedCte(queue: QueueDefinition): string {
  const known = Object.entries(queue.kinds).map(([kind, version]) => `(kind = '${kind}' and schema_version <= ${version})`).join(' or ');
  return `claimed as (
    update ${queue.table} t
       set state = 'running', lease_token = t.lease_token + 1, worker_id = $7, claimed_at = now(), heartbeat_at = now(),
           lease_expires_at = now() + $9::double precision * interval '1 second',
           done = null, total = null, progressed_at = null, version = t.version + 1
     -- ANY over an ARRAY sub-select is evaluated once: "id IN (SELECT … LIMIT n FOR UPDATE SKIP LOCKED)" may be re-run per row and claims too many
     where t.id = any (array(
       select id from ${queue.table}
        where state = 'queued' and run_after <= now() and run_after >= $11::timestamptz and (${known})
          and not exists (select 1 from queue_pauses where queue = '${queue.table}')
        order by run_after, id
        limit $10
          for update skip locked))
    returning t.id, ${parentColumn(queue)} as parent_id, t.lease_token, t.kind, t.attempt, t.lost_leases, t.run_after, t.queued_at
              ${queue.claimColumns.map((column) => `, t.${column} as "row.${column}"`).join('')})`;
}

export const EVENT_COLUMNS = `queue, row_id, parent_id, from_state, to_state, cause, worker_id, worker_version, lease_token, waited_ms, ran_ms, error_code`;

/** The whole statement for one queue: end `$1..$6`, claim up to `$10`. Text depends only on the declaration, so it may be a named statement. */
export function pumpStatement(queue: QueueDefinition, registry = queues): string {
  const nulls = queue.claimColumns.map(() => ', null').join('');
  return `with ${heldCte(queue)}, ${endedCte(queue)} ${parentCtes(queue, 'ended', registry)}, ${claimedCte(queue)},
  events as (
    insert into queue_events (${EVENT_COLUMNS})
    select '${queue.table}', id, parent_id, from_state, state, cause, worker_id, $8, token, null, ran_ms, error_code from ended
    ${parentEvents(queue)}
    union all
    select '${queue.table}', id, parent_id, 'queued', 'running', 'acquire', $7, $8, lease_token,
           (extract(epoch from now() - greatest(run_after, queued_at)) * 1000)::int, null, null from claimed)
  -- The order of these branches is the order of the locks: Postgres runs a CTE when its first reader asks. Ends and their parents may wait for a
  -- lock, claims never do; a claim made first would be held during such a wait, and a cancel of the same parent would deadlock with it.
  select 'ended' as tag, id, token::text as token, state as kind, null::int as attempt, null::int as lost_leases, null as low
         ${queue.claimColumns.map((column) => `, (null::${queue.table}).${column} as "row.${column}"`).join('')} from ended
  ${queue.parent ? `union all select 'parent', id, null, state, null, null, null ${nulls} from parents` : ''}
  union all select 'claimed', id, lease_token::text, kind, attempt, lost_leases, null
         ${queue.claimColumns.map((column) => `, "row.${column}"`).join('')} from claimed
  union all select 'low', null, null, null, null, null, least((select max(run_after) from claimed), now() - interval '2 seconds')::text ${nulls}`;
}

/** Parameters $1..$6 of the pump statement. */
export function endingParameters(endings: readonly Ending[]): unknown[] {
  return [
    endings.map((e) => e.id), endings.map((e) => e.token), endings.map((e) => e.verb), endings.map((e) => e.code ?? null),
    endings.map((e) => e.message ?? null), endings.map((e) => e.delayMs ?? 0),
  ];
}
