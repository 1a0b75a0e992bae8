/**
 * Whether a user's upload may be staged now. Decided under a lock of that user, in the transaction that inserts, from the rows
 * themselves: no counter that could drift, no gap between the look and the write.
 */
import type pg from 'pg';
import { parseJobs, OPEN_STATES, parseItems } from '../lease/queues.js';
import { Problem } from './problem.js';

export interface Caps {
  maxActiveParseJobsPerUser: number;
  maxStagedBytesPerUser: number;
}

/** Seconds after which asking again makes sense: a parse job usually takes a few. */
const RETRY_AFTER_SECONDS = 10;
const NEXT = 'Nothing was stored; wait until one of them has ended and send the upload again.';

/** Waits for this user's other admissions to end. Held until the transaction ends. */
export async function lockUser(tx: pg.PoolClient, userId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [userId]);
}

/** Throws a 429 Problem when `bytes` more, in one more job, exceed a cap. Requires lockUser in the same transaction. */
export async function admit(tx: pg.PoolClient, userId: string, bytes: number, caps: Caps): Promise<void> {
  const { rows } = await tx.query<{ active: number; too_many: boolean; staged: string; too_much: boolean }>(
    `select active, active >= $2::int as too_many, staged::text as staged, staged + $3::bigint > $4::bigint as too_much
       from (select (select count(*)::int from ${parseJobs.table} where user_id = $1 and state in (${inList(OPEN_STATES)})) as active,
                    (select coalesce(sum(byte_size), 0)::bigint from ${parseItems.table} where user_id = $1 and state in ('queued', 'running')) as staged) as now_open`,
    [userId, caps.maxActiveParseJobsPerUser, bytes, caps.maxStagedBytesPerUser],
  );
  const found = rows[0]!;
  if (found.too_many) throw tooManyJobs(caps.maxActiveParseJobsPerUser, found.active);
  if (found.too_much) throw tooMuchStaged(caps.maxStagedBytesPerUser, Number(found.staged), bytes);
}

function inList(states: readonly string[]): string {
  return states.map((state) => `'${state}'`).join(', ');
}

function tooManyJobs(limit: number, current: number): Problem {
  return refusal('too_many_active_jobs', `This user has ${current} uploads that are still being parsed; ${limit} are allowed at once. ${NEXT}`, { limit, current });
}

function tooMuchStaged(limit: number, current: number, requested: number): Problem {
  const next = requested > limit ? 'Nothing was stored; split the upload into smaller ones.' : NEXT;
  return refusal('staged_bytes_exceeded', `This user has ${current} bytes waiting to be parsed; with the ${requested} of this upload that is more than the ${limit} allowed. ${next}`, { limit, current, requested });
}

function refusal(code: string, detail: string, extra: Record<string, number>): Problem {
  return new Problem(429, code, detail, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) }, extra });
}
