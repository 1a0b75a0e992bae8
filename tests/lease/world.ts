import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { expect } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { enqueue } from '../../server/lease/enqueue.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import type { Holder } from '../../server/lease/pump.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import type { SweepOptions } from '../../server/lease/sweep.js';

export const alice: Holder = { workerId: 'w-alice', version: 'v1', leaseSeconds: 60 };
export const bob: Holder = { workerId: 'w-bob', version: 'v2', leaseSeconds: 60 };

export const sweepOptions: SweepOptions = {
  workerId: 'w-sweeper', version: 'v1', maxLostLeases: 10, stagedBytesTtlSeconds: 21_600, sweepSeconds: 30, kickChannel: 'leaseboard_kick',
};

export interface NewJob { jobId: string; itemIds: string[] }

/** A parse job of `count` items through the engine's own enqueue, in one transaction or statement by statement. */
export async function newJob(db: pg.Pool | pg.PoolClient, count = 1, options: { maxAttempts?: number; userId?: string } = {}): Promise<NewJob> {
  const jobId = uuidv7();
  const owner = { user_id: options.userId ?? `user-${jobId}`, session_id: 'session-1' };
  await enqueue(db, parseJobs, { id: jobId, state: 'awaiting', columns: { ...owner, open_children: count, total_children: count } });
  const itemIds: string[] = [];
  for (let n = 0; n < count; n++) {
    const bytes = randomBytes(16);
    const id = uuidv7();
    await enqueue(db, parseItems, {
      id, ...(options.maxAttempts ? { maxAttempts: options.maxAttempts } : {}),
      columns: { job_id: jobId, ...owner, filename: `${n}.pdf`, byte_size: bytes.length, content_sha256: createHash('sha256').update(bytes).digest(), file_bytes: bytes },
    });
    itemIds.push(id);
  }
  return { jobId, itemIds };
}

export interface Row {
  id: string; state: string; token: string; attempt: number; lost_leases: number; worker_id: string | null; error_code: string | null;
  error_message: string | null; bytes: boolean; expires_in: number | null; wait: number; version: string; done: number | null; total: number | null;
}

/** A row as it is committed now; ages in seconds, on the database's clock. */
export async function itemRow(db: Pick<pg.Pool, 'query'>, id: string): Promise<Row> {
  return oneRow(db, `select id, state, lease_token::text as token, attempt, lost_leases, worker_id, error_code, error_message, file_bytes is not null as bytes,
    extract(epoch from lease_expires_at - now())::float8 as expires_in, extract(epoch from run_after - now())::float8 as wait, version::text, done, total
    from parse_items where id = $1`, id);
}

export interface JobRow { id: string; state: string; token: string; open_children: number; succeeded_children: number; error_code: string | null; attempt: number }

export async function jobRow(db: Pick<pg.Pool, 'query'>, id: string): Promise<JobRow> {
  return oneRow(db, 'select id, state, lease_token::text as token, open_children, succeeded_children, error_code, attempt from parse_jobs where id = $1', id);
}

async function oneRow<T>(db: Pick<pg.Pool, 'query'>, text: string, id: string): Promise<T> {
  const { rows } = await db.query(text, [id]);
  return rows[0] as T;
}

/** Time passes: the lease of these rows (or of all) ran out a second ago. */
export async function age(db: Pick<pg.Pool, 'query'>, ids?: readonly string[]): Promise<void> {
  for (const table of ['parse_items', 'parse_jobs']) {
    await db.query(`update ${table} set lease_expires_at = now() - interval '1 second' where state = 'running' and ($1::uuid[] is null or id = any ($1))`, [ids ?? null]);
  }
}

export interface Event { from_state: string | null; to_state: string | null; cause: string; worker_id: string | null; worker_version: string | null; lease_token: string | null; error_code: string | null }

export async function events(db: Pick<pg.Pool, 'query'>, rowId: string): Promise<Event[]> {
  const { rows } = await db.query('select from_state, to_state, cause, worker_id, worker_version, lease_token::text, error_code from queue_events where row_id = $1 order by id', [rowId]);
  return rows as Event[];
}

export async function causes(db: Pick<pg.Pool, 'query'>, rowId: string): Promise<string[]> {
  return (await events(db, rowId)).map((event) => event.cause);
}

export const invariantSettings = {
  maxActiveParseJobsPerUser: 3, maxStagedBytesPerUser: 125_829_120, leaseSeconds: 120, pollSeconds: 5, sweepSeconds: 30,
};

export async function expectSound(pool: pg.Pool): Promise<void> {
  expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
}

/** Empties the leased tables, so that a test claims only what it made. */
export async function clear(db: Pick<pg.Pool, 'query'>): Promise<void> {
  await db.query('delete from parse_items; delete from parse_jobs; delete from queue_events'); // a truncate takes ten times as long
}

export interface OpenTransaction { query: pg.PoolClient['query']; commit(): Promise<void>; undo(): Promise<void> }

const openTransactions = new Set<OpenTransaction>();

/** A connection of its own inside an open transaction. What a failed test leaves open is undone by `undoOpen`. */
export async function openTransaction(pool: pg.Pool): Promise<pg.PoolClient & OpenTransaction> {
  const client = await pool.connect();
  await client.query('begin');
  const finish = async (how: string) => {
    if (!openTransactions.delete(transaction)) return;
    await client.query(how);
    client.release();
  };
  const transaction: OpenTransaction = { query: client.query.bind(client) as pg.PoolClient['query'], commit: () => finish('commit'), undo: () => finish('rollback') };
  openTransactions.add(transaction);
  return transaction as pg.PoolClient & OpenTransaction;
}

export async function undoOpen(): Promise<void> {
  for (const transaction of [...openTransactions]) await transaction.undo();
}

/** Resolves when some backend of this database waits for a lock (at least `count` of them). */
export async function someoneWaits(db: Pick<pg.Pool, 'query'>, count = 1): Promise<boolean> {
  const { rows } = await db.query(`select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
  return rows[0].n >= count;
}
