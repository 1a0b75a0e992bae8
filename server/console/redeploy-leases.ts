import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import { queueByTable, queues } from '../lease/queues.js';
import { isHeld } from '../lease/words.js';
import type { Reader } from './read.js';
import { ms } from './read.js';
import { tableOf } from './row-select.js';
import type { Rollout } from './redeploy-fleet.js';

/** What became of a lease that was held when its process was told to stop, or died. */
export type Outcome = 'finished' | 'given_back' | 'expired' | 'held';

/** Milliseconds; null where nothing was picked up. */
export interface PickedUp {
  rows: number;
  p50: number | null;
  p95: number | null;
  longest: number | null;
}

export interface Tally {
  /** Held at the switch: the sum of the four that follow. */
  inFlight: number;
  finished: number;
  givenBack: number;
  expired: number;
  held: number;
  /** Given back or expired, and not taken again yet. */
  waiting: number;
  /** Of those given back or expired: ended for good with a code that is the redeploy's fault. */
  lost: number;
  lateWrites: number;
  afterGiveBack: PickedUp;
  /** Counted from the dead process's last beat. */
  afterExpiry: PickedUp;
}

export interface ProcessTally {
  finished: number;
  givenBack: number;
  expired: number;
  held: number;
  lateWrites: number;
}

/** One lease of the old version. */
export interface LeaseFate {
  /** The event that ended it, as a cursor; null while it is held. */
  id: string | null;
  slug: string;
  noun: string;
  rowId: string;
  workerId: string;
  outcome: Outcome;
  /** By which verb or cause it ended. */
  cause: string | null;
  endedAt: number | null;
  pickedUpMs: number | null;
  pickedUpBy: string | null;
  pickedUpVersion: string | null;
  /** Where the row stands by its last transition. */
  state: string;
  errorCode: string | null;
  lost: boolean;
}

/** Ends of the row that a redeploy must never cause (proof: lost). */
const LOST_CODES = `('worker_lost', 'blob_expired', 'internal')`;
/** Exactly causes of the index of rare ends (queue_events_given_up): one more, and it could not be used. */
const GIVEN_BACK = `('drain', 'release', 'force_release', 'answer_lost')`;
const EXPIRED = `('sweep', 'detach', 'poison', 'reclaim', 'clear')`;
/** Given back before it was begun: not in that index, and found in the minutes of its process's drain. */
const UNSTARTED = 'unstarted';
/** Its holder's own ends: whatever its work came to, the redeploy did not touch it. */
const FINISHED = `('succeed', 'fail', 'retry', 'outage', 'await', 'wait', 'cancel')`;

/** In one redeploy a fleet holds workers × slots leases. */
const MOST_FATES = 5_000;

/**
 * CTE `fates`: every lease in flight at the switch. A draining process's own ends are read from the minutes of its drain (the log is ordered
 * by time), the rare ends by their index, what is still held from the rows.
 */
function fatesCte(rollout: Rollout): RawBuilder<unknown> {
  const { processes } = rollout;
  const outgoing = processes.filter((process) => process.side === 'outgoing');
  const ids = outgoing.map((process) => process.id);
  const leavers = outgoing.filter((process) => !['working', 'drained'].includes(process.leaving)).map((process) => process.id);
  const columns = sql.raw('e.id, e.queue, e.row_id, e.worker_id, e.at, e.cause');
  const drains = outgoing.filter((process) => process.drainFrom !== null).map((process) => sql`
    select ${columns}, case when e.cause = ${UNSTARTED} then 'given_back' else 'finished' end as outcome from queue_events e
     where e.at >= ${process.drainFrom}::timestamptz and e.at <= ${process.drainUntil}::timestamptz and e.worker_id = ${process.id}
       and (e.cause in ${sql.raw(FINISHED)} or e.cause = ${UNSTARTED}) and e.lease_token is not null and e.to_state is not null`);
  const rare = (causes: string, outcome: Outcome) => sql`
    select ${columns}, ${sql.lit(outcome)} as outcome from queue_events e
     where e.worker_id = any(${ids}::text[]) and e.cause in ${sql.raw(causes)} and e.at >= ${since(rollout)}`;
  const ended = [...drains, rare(GIVEN_BACK, 'given_back'), rare(EXPIRED, 'expired')];
  const held = queues.map((queue) => sql`
    select null::bigint, ${queue.table}::text, id, worker_id, null::timestamptz, null::text, 'held' from ${tableOf(queue)} where ${sql.raw(isHeld(queue))} and worker_id = any(${leavers}::text[])`);
  return sql`ends as materialized (select * from (${sql.join(ended, sql` union all `)}) one order by id limit ${sql.lit(MOST_FATES)}),
  fates as materialized (
    select f.*, case when f.outcome = 'held' then 'running' else coalesce(last.to_state, '?') end as state, last.error_code,
      up.at as taken_at, up.worker_id as taken_by, up.worker_version as taken_version,
      case when up.at is not null then greatest(0, extract(epoch from up.at - case when f.outcome = 'expired' and w.stopped_at is null and w.heartbeat_at < f.at then w.heartbeat_at else f.at end) * 1000)::float8 end as taken_ms,
      coalesce(f.outcome in ('given_back', 'expired') and last.to_state = 'failed' and last.error_code in ${sql.raw(LOST_CODES)}, false) as lost
    from (select * from ends union all ${sql.join(held, sql` union all `)}) f
    left join workers w on w.id = f.worker_id
    left join lateral (select a.at, a.worker_id, a.worker_version from queue_events a
                        where a.row_id = f.row_id and a.id > f.id and a.cause = 'acquire' order by a.row_id, a.id limit 1) up on f.outcome in ('given_back', 'expired')
    left join lateral (select l.to_state, l.error_code from queue_events l
                        where l.row_id = f.row_id and l.to_state is not null order by l.row_id desc, l.id desc limit 1) last on true)`;
}

/** The switch, or the first drain where one began before the new version had come. */
function since({ processes, switchText }: Rollout): RawBuilder<unknown> {
  const drains = processes.flatMap(({ side, drainFrom }) => (side === 'outgoing' && drainFrom !== null ? [drainFrom] : []));
  return sql`(select min(at) from unnest(${[switchText, ...drains]}::timestamptz[]) at)`;
}

/** Where a row stands that nobody has taken since: neither running nor ended. */
const UNTAKEN = `outcome in ('given_back', 'expired') and taken_at is null and state in ('queued', 'building', 'awaiting')`;

export async function readTally(reader: Reader, rollout: Rollout): Promise<Tally> {
  const picked = (outcome: Outcome) => sql.raw(`json_build_object('rows', count(taken_ms) filter (where outcome = '${outcome}'), 'longest', max(taken_ms) filter (where outcome = '${outcome}'),
      'p50', percentile_cont(0.5) within group (order by taken_ms) filter (where outcome = '${outcome}'),
      'p95', percentile_cont(0.95) within group (order by taken_ms) filter (where outcome = '${outcome}'))`);
  const { rows } = await sql<Omit<Tally, 'lateWrites'>>`
    with ${fatesCte(rollout)} select count(*)::int as "inFlight", ${counts()},
      (count(*) filter (where ${sql.raw(UNTAKEN)}))::int as waiting, (count(*) filter (where lost))::int as lost,
      ${picked('given_back')} as "afterGiveBack", ${picked('expired')} as "afterExpiry" from fates`.execute(reader);
  const late = await readLateWrites(reader, rollout);
  return { ...rows[0]!, lateWrites: [...late.values()].reduce((sum, n) => sum + n, 0) };
}

/** By process id. */
export async function readProcessTallies(reader: Reader, rollout: Rollout): Promise<Map<string, ProcessTally>> {
  const { rows } = await sql<ProcessTally & { id: string }>`with ${fatesCte(rollout)} select worker_id as id, ${counts()} from fates group by worker_id`.execute(reader);
  const late = await readLateWrites(reader, rollout);
  const none = { finished: 0, givenBack: 0, expired: 0, held: 0 };
  const found = new Map(rows.map(({ id, ...tally }) => [id, tally]));
  return new Map(rollout.processes.map(({ id }) => [id, { ...(found.get(id) ?? none), lateWrites: late.get(id) ?? 0 }]));
}

function counts() {
  return sql.raw(`(count(*) filter (where outcome = 'finished'))::int as finished, (count(*) filter (where outcome = 'given_back'))::int as "givenBack",
      (count(*) filter (where outcome = 'expired'))::int as expired, (count(*) filter (where outcome = 'held'))::int as held`);
}

async function readLateWrites(reader: Reader, rollout: Rollout): Promise<Map<string, number>> {
  const ids = rollout.processes.filter((process) => process.side === 'outgoing').map((process) => process.id);
  const { rows } = await sql<{ id: string; n: number }>`
    select worker_id as id, count(*)::int as n from queue_events
     where cause = 'late_write' and worker_id = any(${ids}::text[]) and at >= ${since(rollout)} group by worker_id`.execute(reader);
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** One outcome, or those that are `lost`, or all. Newest end first; what is still held stands before everything. `before`: keyset, an event id. */
export async function readFates(reader: Reader, rollout: Rollout, outcome: Outcome | 'lost' | null, before: string | null, limit: number): Promise<LeaseFate[]> {
  const wanted = outcome === null ? sql`true` : outcome === 'lost' ? sql`lost` : sql`outcome = ${outcome}`;
  const { rows } = await sql<Omit<LeaseFate, 'slug' | 'noun'> & { table: string }>`
    with ${fatesCte(rollout)} select f.id::text as id, f.queue as "table", f.row_id as "rowId", f.worker_id as "workerId", f.outcome, f.cause, ${ms('f.at')} as "endedAt",
      f.taken_ms as "pickedUpMs", coalesce(w.label, f.taken_by) as "pickedUpBy", f.taken_version as "pickedUpVersion", f.state, f.error_code as "errorCode", f.lost
    from fates f left join workers w on w.id = f.taken_by
    where ${wanted} and ${before === null ? sql`true` : sql`f.id < ${before}::bigint`}
    order by f.id desc nulls first, f.row_id limit ${sql.lit(limit)}`.execute(reader);
  return rows.map(({ table, ...fate }) => ({ ...fate, ...wordsOf(table) }));
}

function wordsOf(table: string) {
  const { slug, noun } = queueByTable(table) ?? { slug: table, noun: table };
  return { slug, noun };
}
