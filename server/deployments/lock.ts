/**
 * The publish lock: the row of an app is the lock, and one conditional statement takes it.
 *
 * Promises
 * - Of any number of callers at once exactly one changes the row; each other learns from the same statement, which locks the row, who holds it.
 *   There is no read that a write relies on.
 * - The lock is taken only if nobody publishes or the last beat is older than the dead-after time (database clock). Whoever held it before can
 *   write nothing more: publish_no and lease_token have moved on.
 * - A new publish shows nothing of the one before: error, cancel and build columns are cleared by the statement that takes the lock, and what
 *   became of the predecessor is written to its attempt by the same statement.
 * Crash: before the commit nothing happened; after it a worker finds the row `building` without a worker, and if none comes the silence
 * since heartbeat_at frees it.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../lease/pump.js';
import { deployments } from '../lease/queues.js';
import type { PublishRequest } from './publish-request.js';

export interface Lock {
  deploymentId: string;
  publishNo: number;
}

/** Who holds the lock now. Instants are ISO text in UTC, from the database. */
export interface LockHolder extends Lock {
  requestedBy: string;
  /** The worker that drives the build; null while none does. */
  worker: { label: string; version: string } | null;
  since: string;
  lastBeat: string;
  reclaimableAt: string;
}

export type LockAnswer =
  | { kind: 'taken'; lock: Lock }
  | { kind: 'in_progress'; holder: LockHolder }
  | { kind: 'slug_fixed'; lock: Lock; slug: string }
  | { kind: 'paused'; lock: Lock | null; reason: string }
  /** This project has no deployment yet. */
  | { kind: 'none' };

const PAUSED = `exists (select 1 from queue_pauses where queue = '${deployments.table}')`;

/** $1 project, $2 slug, $3 user, $4 requested by, $5 source, $6 dead after (seconds), $7 attempts a publish has. */
const TAKE = `with locked as materialized (
    select d.*, d.state = 'building' and d.heartbeat_at >= now() - $6::double precision * interval '1 second' as alive
      from deployments d where d.project_id = $1 for update),
  taken as (
    update deployments d
       set state = 'building', publish_no = d.publish_no + 1, lease_token = d.lease_token + 1, published_at = clock_timestamp(),
           heartbeat_at = clock_timestamp(), run_after = clock_timestamp(), queued_at = clock_timestamp(),
           worker_id = null, lease_expires_at = null, claimed_at = null, finished_at = null, done = null, total = null, progressed_at = null,
           attempt = 0, max_attempts = $7, lost_leases = 0, error_code = null, error_message = null, cancel_requested_at = null, cancel_requested_by = null,
           previous_build_id = case when d.build_id is not null and d.build_ended_at is null then d.build_id else d.previous_build_id end,
           build_requested_at = null, build_id = null, build_ended_at = null,
           user_id = $3, requested_by = $4, version = d.version + 1
      from locked l
     -- the guard stands in the update itself: the row that is changed is the row that is judged
     where d.id = l.id and d.slug = $2 and (d.state <> 'building' or d.heartbeat_at < now() - $6::double precision * interval '1 second') and not ${PAUSED}
    returning d.id, d.publish_no),
  archived as (
    update deployment_attempts a
       set outcome = case when l.state = 'building' then 'lost' else l.state end,
           error_code = case when l.state = 'building' then 'lost' else l.error_code end,
           error_message = case when l.state = 'building' then 'Nothing was heard of this publish for so long that a newer one took its place.' else l.error_message end,
           build_id = l.build_id, release = case when l.state = 'live' then l.live_release end, ended_at = coalesce(l.finished_at, clock_timestamp())
      from locked l join taken t on t.id = l.id
     where a.deployment_id = l.id and a.publish_no = l.publish_no),
  started as (
    insert into deployment_attempts (deployment_id, publish_no, user_id, requested_by, source) select id, publish_no, $3, $4, $5 from taken),
  events as (
    insert into queue_events (queue, row_id, from_state, to_state, cause, worker_id, worker_version, lease_token)
    select 'deployments', l.id, l.state, 'building', case when l.state = 'building' then 'reclaim' else 'publish' end, l.worker_id, w.version,
           case when l.state = 'building' then l.lease_token end
      from locked l join taken t on t.id = l.id left join workers w on w.id = l.worker_id)
  select l.id, l.slug, l.state, l.alive, l.publish_no, l.requested_by, t.publish_no as taken_no, w.label, w.version,
         ${iso('l.published_at')} as since, ${iso('l.heartbeat_at')} as last_beat,
         ${iso(`l.heartbeat_at + $6::double precision * interval '1 second'`)} as reclaimable_at,
         (select reason from queue_pauses where queue = '${deployments.table}') as paused
    from locked l left join taken t on t.id = l.id left join workers w on w.id = l.worker_id`;

function iso(instant: string): string {
  return `to_char((${instant}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/**
 * Tries to take the lock of an app that has a row. Must run in a transaction, whose commit makes it so; kick the queue in the same one.
 * May wait for a beat or a settle of the row (set a lock_timeout).
 */
export async function takeLock(tx: Queryable, request: PublishRequest, deadAfterSeconds: number, maxAttempts: number): Promise<LockAnswer> {
  let row = await tryTake(tx, request, deadAfterSeconds, maxAttempts);
  // It was taken when the statement began and had ended by the time its row was locked: the update passed over what it saw first. The row is
  // ours to judge now, so that a second look is the last one.
  if (row && isFree(row) && row.slug === request.slug) row = await tryTake(tx, request, deadAfterSeconds, maxAttempts);
  if (!row) return { kind: 'none' };
  const lock = { deploymentId: row.id as string, publishNo: (row.taken_no ?? row.publish_no) as number };
  if (row.taken_no !== null) return { kind: 'taken', lock };
  if (row.paused !== null) return { kind: 'paused', lock, reason: row.paused as string };
  return row.alive ? { kind: 'in_progress', holder: holderOf(row, lock) } : { kind: 'slug_fixed', lock, slug: row.slug as string };
}

async function tryTake(tx: Queryable, request: PublishRequest, deadAfterSeconds: number, maxAttempts: number): Promise<Record<string, unknown> | undefined> {
  const { projectId, slug, userId, requestedBy, source } = request;
  return (await tx.query({ text: TAKE, values: [projectId, slug, userId, requestedBy, source, deadAfterSeconds, maxAttempts] })).rows[0];
}

function isFree(row: Record<string, unknown>): boolean {
  return row.taken_no === null && row.paused === null && !row.alive;
}

function holderOf(row: Record<string, unknown>, lock: Lock): LockHolder {
  return {
    ...lock, requestedBy: row.requested_by as string,
    worker: row.label === null ? null : { label: row.label as string, version: row.version as string },
    since: row.since as string, lastBeat: row.last_beat as string, reclaimableAt: row.reclaimable_at as string,
  };
}

/**
 * The first publish of an app: its row appears with the lock taken. Must run in a transaction.
 * @returns null when the queue is paused. @throws 23505 with constraint deployments_project or deployments_slug; the transaction is then over.
 */
export async function insertLocked(tx: Queryable, request: PublishRequest, maxAttempts: number): Promise<Lock | null> {
  const { projectId, slug, userId, requestedBy, source } = request;
  const { rows } = await tx.query({
    text: `with added as (
             insert into deployments (id, project_id, slug, user_id, requested_by, max_attempts, state, published_at, heartbeat_at, run_after, queued_at, created_at)
             select $1::uuid, $2, $3, $4, $5, $7::int, 'building', at, at, at, at, at from (select clock_timestamp() as at) c where not ${PAUSED}
             returning id, publish_no),
           started as (
             insert into deployment_attempts (deployment_id, publish_no, user_id, requested_by, source) select id, publish_no, $4, $5, $6 from added),
           events as (
             insert into queue_events (queue, row_id, to_state, cause) select 'deployments', id, 'building', 'publish' from added)
           select id, publish_no from added`,
    values: [uuidv7(), projectId, slug, userId, requestedBy, source, maxAttempts],
  });
  return rows[0] ? { deploymentId: rows[0].id as string, publishNo: rows[0].publish_no as number } : null;
}
