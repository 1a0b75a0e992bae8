/**
 * The row as the worker that drives it may see and change it. Every statement here repeats that the row is building, driven, and under this
 * lease's token; zero rows means that the publish or its worker has been superseded: the result is thrown away and a late write is recorded.
 */
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { LeaseLostError } from '../lease/errors.js';
import type { Lease } from '../lease/lease.js';
import type { Queryable } from '../lease/pump.js';
import { deployments } from '../lease/queues.js';
import { isHeld } from '../lease/words.js';
import type { BuildState } from './orchestrator-client.js';

export interface Standing {
  buildId: string | null;
  /** A build was asked for, so one may exist although its id was never heard. */
  asked: boolean;
  previousBuildId: string | null;
  cancelled: boolean;
}

const OURS = `id = $1 and lease_token = $2 and publish_no = $3 and ${isHeld(deployments)}`;

/** @throws LeaseLostError when this lease drives the row no more. */
export async function readStanding(pool: pg.Pool, lease: Lease): Promise<Standing> {
  const { rows } = await pool.query<Standing>(limited(
    `select build_id as "buildId", build_requested_at is not null as asked, previous_build_id as "previousBuildId", cancel_requested_at is not null as cancelled
       from deployments where ${OURS}`, key(lease)));
  if (!rows[0]) throw await lost(pool, lease);
  return rows[0];
}

export async function noteAsked(pool: pg.Pool, lease: Lease): Promise<void> {
  await write(pool, lease, 'build_requested_at = coalesce(build_requested_at, clock_timestamp())', []);
}

export async function noteBuild(pool: pg.Pool, lease: Lease, buildId: string): Promise<void> {
  await write(pool, lease, 'build_id = $4', [buildId]);
}

/** The build is over at the orchestrator: the next publish need not cancel it. */
export async function noteBuildEnded(pool: pg.Pool, lease: Lease): Promise<void> {
  await write(pool, lease, 'build_ended_at = clock_timestamp()', []);
}

/** The orchestrator has forgotten the build: the next try asks for it anew, under the same key. */
export async function forgetBuild(pool: pg.Pool, lease: Lease): Promise<void> {
  await write(pool, lease, 'build_id = null', []);
}

/**
 * The predecessor's build has ended. If it got as far as being released, that is what serves now, so the row says so: a truth that a failure of
 * ours must not hide. The predecessor's attempt stays `lost`.
 */
export async function notePreviousEnded(pool: pg.Pool, lease: Lease, buildId: string, end: BuildState | null): Promise<void> {
  const released = end?.state === 'released';
  await write(pool, lease, released
    ? `previous_build_id = null, live_release = coalesce((
         select jsonb_build_object('releaseId', $4::text, 'url', $5::text, 'publishNo', a.publish_no, 'at', to_jsonb(clock_timestamp())) from deployment_attempts a
          where a.deployment_id = deployments.id and a.build_id = $6 and a.publish_no > coalesce((live_release->>'publishNo')::int, 0)
          order by a.publish_no desc limit 1), live_release)`
    : 'previous_build_id = null', released ? [end.releaseId, end.url, buildId] : []);
}

/** Within the settling transaction, the row being fenced: what serves from now on, unless a newer publish has gone live. */
export async function switchLive(tx: Queryable, lease: Lease, end: BuildState): Promise<void> {
  const { rowCount } = await tx.query({
    text: `update deployments
              set live_release = jsonb_build_object('releaseId', $4::text, 'url', $5::text, 'publishNo', publish_no, 'at', to_jsonb(clock_timestamp())),
                  build_ended_at = clock_timestamp()
            where ${OURS} and coalesce((live_release->>'publishNo')::int, 0) < publish_no`,
    values: [...key(lease), end.releaseId, end.url],
  });
  if (rowCount !== 1) throw new LeaseLostError(lease.queue, lease.id, lease.token, 'a newer publish of this app is live');
}

async function write(pool: pg.Pool, lease: Lease, set: string, values: unknown[]): Promise<void> {
  const { rowCount } = await pool.query(limited(`update deployments set ${set}, version = version + 1 where ${OURS}`, [...key(lease), ...values]));
  if (rowCount !== 1) throw await lost(pool, lease);
}

function key(lease: Lease): unknown[] {
  return [lease.id, lease.token, lease.row.publish_no];
}

/** The late write is told once for each lease; its worker is the one that acquired it. */
async function lost(pool: pg.Pool, lease: Lease): Promise<LeaseLostError> {
  await pool.query(limited(
    `insert into queue_events (queue, row_id, cause, worker_id, worker_version, lease_token)
     select queue, row_id, 'late_write', worker_id, worker_version, lease_token from queue_events e
      where row_id = $1 and lease_token = $2 and cause = 'acquire'
        and not exists (select 1 from queue_events l where l.row_id = $1 and l.lease_token = $2 and l.cause = 'late_write') limit 1`,
    [lease.id, lease.token])).catch(() => undefined);
  return new LeaseLostError(lease.queue, lease.id, lease.token, 'another publish or another worker has taken over');
}
