/**
 * The two ways in which a person ends a publish. Cancel asks: the lock is held until the build has ended, then the row fails as `cancelled`.
 * Clear takes the lock away from a publish that has fallen silent for longer than the dead-after time, and from no other.
 * Both are one conditional statement each; zero rows is a refusal, answered with the row as it is.
 */
import type { Queryable } from '../lease/pump.js';

export type CancelAnswer = { kind: 'requested'; publishNo: number } | { kind: 'finished'; state: string; publishNo: number } | { kind: 'none' };

/**
 * Asks the publish that holds the lock to end. `publishNo`: only that one, if given. Run it in a transaction with a kick of the queue.
 * Pressing twice is safe: the first request stays.
 */
export async function requestCancel(tx: Queryable, id: string, by: string, publishNo?: number): Promise<CancelAnswer> {
  const { rows } = await tx.query({
    text: `with asked as (
             update deployments d
                set cancel_requested_at = coalesce(d.cancel_requested_at, clock_timestamp()), cancel_requested_by = coalesce(d.cancel_requested_by, $2),
                    run_after = least(d.run_after, clock_timestamp()), version = d.version + 1
              where d.id = $1 and d.state = 'building' and ($3::int is null or d.publish_no = $3)
             returning d.id, d.publish_no),
           events as (
             insert into queue_events (queue, row_id, from_state, cause) select 'deployments', id, 'building', 'cancel_requested' from asked)
           select d.state, d.publish_no, a.publish_no as asked from deployments d left join asked a on a.id = d.id where d.id = $1`,
    values: [id, by, publishNo ?? null],
  });
  const row = rows[0];
  if (!row) return { kind: 'none' };
  if (row.asked !== null) return { kind: 'requested', publishNo: row.asked as number };
  return { kind: 'finished', state: row.state as string, publishNo: row.publish_no as number };
}

export type ClearAnswer =
  | { kind: 'cleared'; publishNo: number }
  /** It has beaten within the dead-after time. */
  | { kind: 'holder_alive'; silentSeconds: number }
  | { kind: 'already_clear' }
  /** The lock has been taken anew since the caller looked. */
  | { kind: 'reclaimed' }
  | { kind: 'none' };

/**
 * Takes a dead lock away. `token`: the lease token that the caller saw. The build that it may have left behind is ended by the next publish.
 * Must run in a transaction (the audit row goes with it). @param message is shown on the row: who cleared it, and why.
 */
export async function clearStuckLock(tx: Queryable, id: string, token: string, deadAfterSeconds: number, message: string): Promise<ClearAnswer> {
  const { rows } = await tx.query({
    text: `with stuck as materialized (select id, worker_id, lease_token, publish_no from deployments where id = $1 for update),
           cleared as (
             update deployments d
                set state = 'failed', error_code = 'cleared', error_message = $4, finished_at = clock_timestamp(), lease_token = d.lease_token + 1,
                    worker_id = null, lease_expires_at = null, heartbeat_at = null, version = d.version + 1
               from stuck s
              where d.id = s.id and d.state = 'building' and d.lease_token = $2 and d.heartbeat_at < now() - $3::double precision * interval '1 second'
             returning d.id, d.publish_no),
           events as (
             insert into queue_events (queue, row_id, from_state, to_state, cause, worker_id, lease_token, error_code)
             select 'deployments', c.id, 'building', 'failed', 'clear', s.worker_id, s.lease_token, 'cleared' from cleared c join stuck s on s.id = c.id)
           select publish_no from cleared`,
    values: [id, token, deadAfterSeconds, message],
  });
  return rows[0] ? { kind: 'cleared', publishNo: rows[0].publish_no as number } : whyNotCleared(tx, id, token, deadAfterSeconds);
}

/** The row was locked by the statement before, so it is as that statement saw it. */
async function whyNotCleared(tx: Queryable, id: string, token: string, deadAfterSeconds: number): Promise<ClearAnswer> {
  const { rows } = await tx.query({
    text: `select state, lease_token = $2 as same, extract(epoch from now() - heartbeat_at)::float8 as silent from deployments where id = $1`,
    values: [id, token],
  });
  const row = rows[0];
  if (!row) return { kind: 'none' };
  if (row.state !== 'building') return { kind: 'already_clear' };
  if (row.silent as number <= deadAfterSeconds) return row.same ? { kind: 'holder_alive', silentSeconds: row.silent as number } : { kind: 'reclaimed' };
  return { kind: 'reclaimed' };
}
