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
 * answer: the log says "ended, my token" (see settle.ts), and claimed rows that nobody knows are given back (see release.ts).
 */
import type { QueueDefinition } from './queues.js';
import { queueByTable, queues } from './queues.js';
import { isClaimable, isHeld, wordsOfQueue } from './words.js';

/** How a lease ends, from the holder's side. */
export type Verb = 'succeed' | 'fail' | 'retry' | 'outage' | GiveBackVerb | MakerVerb;
/** The row goes back as if it had never been taken: its worker drains, or it was claimed ahead and could not start soon. */
export type GiveBackVerb = 'drain' | 'unstarted';
/** Only of a parent that makes its own children: it awaits them, or waits until it can make them. Neither is a failure, nothing is charged. */
export type MakerVerb = 'await' | 'wait';

export interface Ending {
  id: string;
  token: string;
  verb: Verb;
  code?: string;
  message?: string;
  /** Retry, outage and wait: how long the row waits, in milliseconds. */
  delayMs?: number;
}

const GIVE_BACK = `('drain', 'unstarted')`;
const TERMINAL = `('succeeded', 'failed', 'cancelled')`;

/** Where a held row goes, by verb. */
function toStateOf(queue: QueueDefinition): string {
  const { waiting, done } = wordsOfQueue(queue);
  return `case e.verb when 'succeed' then '${done}' when 'fail' then 'failed'${queue.children?.madeByLease ? ` when 'await' then 'awaiting'` : ''}
                when 'retry' then case when t.attempt + 1 >= t.max_attempts then 'failed' else '${waiting}' end else '${waiting}' end`;
}

/**
 * CTE `e`: the ends to write ($1..$6). For a queue with parents the rows are locked first, in id order, since a cancel of a parent locks
 * the same children; elsewhere the update itself locks (a lock of its own costs a fifth of the rate), in the order in which the ids are sent.
 */
function endsCte(queue: QueueDefinition): string {
  const ends = `select * from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::double precision[]) as e(id, token, verb, code, message, delay)`;
  if (!queue.parent) return `e as (${ends})`;
  return `e as materialized (
    select e.* from (${ends}) as e join ${queue.table} t on t.id = e.id
     where ${isHeld(queue, 't')} and t.lease_token = e.token order by t.id for update of t)`;
}

/** CTE `ended`. A give-back keeps run_after, so that the row stays at the front. */
function endedCte(queue: QueueDefinition): string {
  const toState = toStateOf(queue);
  const maker = queue.children?.madeByLease;
  const back = maker ? `${toState} in ('queued', 'awaiting')` : `${toState} = '${wordsOfQueue(queue).waiting}'`;
  return `ended as (
    update ${queue.table} t
       set state = ${toState},
           attempt = t.attempt + (e.verb in ('retry', 'fail'))::int,
           run_after = case when ${back} and e.verb in ('retry', 'outage'${maker ? `, 'wait'` : ''}) then now() + e.delay * interval '1 millisecond' else t.run_after end,
           queued_at = case when ${back} then now() else t.queued_at end,
           finished_at = case when ${back} then null else now() end,
           worker_id = null, heartbeat_at = ${queue.words ? `case when ${back} then now() end` : 'null'}, lease_expires_at = null,
           error_code = case when e.verb = 'succeed' then null when e.verb in ${GIVE_BACK} then t.error_code else e.code end,
           error_message = case when e.verb = 'succeed' then null when e.verb in ${GIVE_BACK} then t.error_message else e.message end,
           ${queue.erased.map((column) => `${column} = case when ${back} then t.${column} end,`).join(' ')}
           version = t.version + 1
      from e
     where t.id = e.id and ${isHeld(queue, 't')} and t.lease_token = e.token
    returning t.id, ${parentColumn(queue)} as parent_id, t.state, case when t.state = 'failed' then 'fail' else e.verb end as cause, e.token, t.claimed_at, t.error_code)`;
}

/**
 * CTE `ended` where every verb is `succeed`: the hot path. $1 ids, $2 tokens. The token is looked up by the id's place in the array, not joined:
 * whatever the planner believes, each row is one descent of an index (a join against unnest may be turned round and is then quadratic) and one
 * binary search: the ids are sorted as Postgres sorts uuids, and width_bucket answers the last place that is not greater.
 */
function succeededCte(queue: QueueDefinition): string {
  const mine = `t.id = any ($1::uuid[]) and ${isHeld(queue, 't')} and t.lease_token = ($2::bigint[])[width_bucket(t.id, $1::uuid[])]`;
  const locked = queue.parent ? `e as materialized (select t.id from ${queue.table} t where ${mine} order by t.id for update of t), ` : '';
  return `${locked}ended as (
    update ${queue.table} t
       set state = '${wordsOfQueue(queue).done}', finished_at = now(), worker_id = null, heartbeat_at = null, lease_expires_at = null,
           error_code = null, error_message = null, ${queue.erased.map((column) => `${column} = null,`).join(' ')} version = t.version + 1
     where ${mine} ${queue.parent ? 'and t.id = any (array(select id from e))' : ''}
    returning t.id, ${parentColumn(queue)} as parent_id, t.state, 'succeed'::text as cause, t.lease_token as token, t.claimed_at, t.error_code)`;
}

/** Milliseconds since an instant, as the events keep them: capped, since a row may have waited for longer than 32 bits can count (25 days). */
export function msSince(instant: string): string {
  return `least(date_part('epoch', now() - ${instant}) * 1000, 2147483647)::int`; // extract() answers a numeric: slower
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

/**
 * Which rows a shared queue offers: of each user that has any, the first that fit under the cap beside those held already. Two claims at once
 * see the same first rows and take them with SKIP LOCKED, so together they do not pass the cap either. The walk over users takes one step of the
 * index a user, whatever the backlog (ordered as that index is, so that no other one, with the whole history in it, is walked instead).
 */
function sharesCte({ table, sharedBy }: QueueDefinition, known: string, cap: string): string {
  if (!sharedBy) return '';
  return `sharers as (
      (select ${sharedBy} as sharer from ${table} where state = 'queued' order by ${sharedBy}, run_after limit 1)
      union all
      select (select q.${sharedBy} from ${table} q where q.state = 'queued' and q.${sharedBy} > s.sharer order by q.${sharedBy}, q.run_after limit 1) from sharers s where s.sharer is not null),
  shares as materialized (
    select q.id from sharers s,
      lateral (select id from ${table} where state = 'queued' and ${sharedBy} = s.sharer and run_after <= now() and (${known}) order by run_after, id
                limit greatest(0, ${cap}::int - (select count(*)::int from ${table} h where h.state = 'running' and h.${sharedBy} = s.sharer))) q),
  `;
}

/**
 * CTEs `allowed` and `claimed`. Parameters from $first: worker id, version, lease in seconds, limit, low-water mark, limit beside a row that has
 * lost a lease; for a shared queue also its cap.
 */
function claimedCte(queue: QueueDefinition, first: number): string {
  const known = Object.entries(queue.kinds).map(([kind, version]) => `(kind = '${kind}' and schema_version <= ${version})`).join(' or ');
  const claimable = `${isClaimable(queue)} and run_after <= now() and run_after >= $${first + 4}::timestamptz and (${known})`;
  const lostAmong = `exists (select 1 from (select lost_leases from ${queue.table} where ${claimable} order by run_after, id limit $${first + 3}) as next where lost_leases > 0)`;
  return `${sharesCte(queue, known, `$${first + 6}`)}allowed as materialized (
    select case when $${first + 5}::int < $${first + 3}::int and ${lostAmong} then $${first + 5}::int else $${first + 3}::int end as rows),
  claimed as (
    update ${queue.table} t
       set state = '${wordsOfQueue(queue).held}', lease_token = t.lease_token + 1, worker_id = $${first}, claimed_at = now(), heartbeat_at = now(),
           lease_expires_at = now() + $${first + 2}::double precision * interval '1 second',
           ${queue.words ? 'lost_leases = t.lost_leases + (t.worker_id is not null)::int, ' : ''}done = null, total = null, progressed_at = null, version = t.version + 1
     -- ANY over an ARRAY sub-select is evaluated once: "id IN (SELECT … LIMIT n FOR UPDATE SKIP LOCKED)" may be re-run per row and claims too many
     where t.id = any (array(
       select id from ${queue.table}
        where ${claimable}
          and not exists (select 1 from queue_pauses where queue = '${queue.table}')${queue.sharedBy ? ' and id = any (array(select id from shares))' : ''}
        order by run_after, id
        limit (select rows from allowed)
          for update skip locked))
    returning t.id, ${parentColumn(queue)} as parent_id, t.lease_token, t.kind, t.attempt, t.lost_leases, t.run_after, t.queued_at
              ${queue.claimColumns.map((column) => `, t.${column} as "row.${column}"`).join('')})`;
}

export const EVENT_COLUMNS = `queue, row_id, parent_id, from_state, to_state, cause, worker_id, worker_version, lease_token, waited_ms, ran_ms, error_code`;

/** Which ends a statement can write: any, only successes (the hot path: a third less of Postgres's CPU a row), or none (a claim alone, which an idle worker waits for). */
export type Ends = 'any' | 'successes' | 'none';

/** The answer to successes: which they were is said only where some are missing. */
const KEYS_UNLESS_ALL = `case when count(*) < cardinality($1::uuid[]) then coalesce(string_agg(id::text || '/' || token, ','), '') end`;

/** The whole statement for one queue: end, and claim. Text depends only on the declaration and `ends`, so it may be a named statement. */
export function pumpStatement(queue: QueueDefinition, ends: Ends, registry = queues): string {
  const first = { any: 7, successes: 3, none: 1 }[ends];
  const nulls = queue.claimColumns.map(() => ', null').join('');
  // What a cap holds back lies below rows that were claimed: a mark would hide it.
  const low = queue.sharedBy ? `'-infinity'::text` : `least((select max(run_after) from claimed), now() - interval '2 seconds')::text`;
  const { held, waiting } = wordsOfQueue(queue);
  return `with ${queue.sharedBy ? 'recursive ' : ''}${ends === 'none' ? '' : `${ends === 'any' ? `${endsCte(queue)}, ${endedCte(queue)}` : succeededCte(queue)}
  ${parentCtes(queue, 'ended', registry)}, `}${claimedCte(queue, first)},
  events as (
    insert into queue_events (${EVENT_COLUMNS})
    ${ends === 'none' ? '' : `select '${queue.table}', id, parent_id, '${held}', state, cause, $${first}, $${first + 1}, token, null,
           ${msSince('claimed_at')}, error_code from ended
    ${parentEvents(queue)}
    union all`}
    select '${queue.table}', id, parent_id, '${waiting}', '${held}', 'acquire', $${first}, $${first + 1}, lease_token,
           ${msSince('greatest(run_after, queued_at)')}, null, null from claimed)
  -- The order of these branches is the order of the locks: Postgres runs a CTE when its first reader asks. Ends and their parents may wait for a
  -- lock, claims never do; a claim made first would be held during such a wait, and a cancel of the same parent would deadlock with it.
  ${endedBranches(queue, ends, nulls)}
  select 'claimed' as tag, id, lease_token::text as token, kind, attempt, lost_leases, null as low
         ${queue.claimColumns.map((column) => `, "row.${column}"`).join('')} from claimed
  union all select 'low', null, null, null, (select rows from allowed), null, ${low} ${nulls}`;
}

/** What the statement answers of ends and parents; empty when it writes none. */
function endedBranches(queue: QueueDefinition, ends: Ends, nulls: string): string {
  if (ends === 'none') return '';
  return `${ends === 'any' ? `select 'ended' as tag, id, token::text as token, state as kind` : `select 'succeeded' as tag, null::uuid as id, ${KEYS_UNLESS_ALL} as token, null::text as kind`},
         null::int as attempt, null::int as lost_leases, null as low
         ${queue.claimColumns.map((column) => `, (null::${queue.table}).${column} as "row.${column}"`).join('')} from ended
  ${queue.parent ? `union all select 'parent', id, null, state, null, null, null ${nulls} from parents` : ''}
  union all`;
}

/** The leading parameters of the pump statement. */
export function endingParameters(endings: readonly Ending[], ends: Ends): unknown[] {
  if (ends === 'none') return [];
  // By id, the order of the locks and of the statement's binary search; of two ends of one row the newest token last, since that is the one it finds.
  const sorted = [...endings].sort((a, b) => (a.id === b.id ? Number(BigInt(a.token) - BigInt(b.token)) : a.id < b.id ? -1 : 1));
  const keys = [sorted.map((e) => e.id), sorted.map((e) => e.token)];
  if (ends === 'successes') return keys;
  return [...keys, sorted.map((e) => e.verb), sorted.map((e) => e.code ?? null), sorted.map((e) => e.message ?? null), sorted.map((e) => e.delayMs ?? 0)];
}
