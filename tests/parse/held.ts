import type pg from 'pg';
import { inTransaction } from '../../server/db/connection.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import { succeedWithin } from '../../server/lease/settle.js';
import { createLogger } from '../../server/log.js';
import type { Done, Handler, Lease, Outcome, Work } from '../../server/lease/handler.js';
import { insertParseItem, insertParseJob } from '../support/factories.js';

const holder = { workerId: 'w-test', version: 'test', leaseSeconds: 60 };

export const limits = { maxSeconds: 60, maxMemoryMb: 512, maxPages: 200 };

/** What a handler is given; `progress` is kept for looking at. */
export function workOn(pool: pg.Pool): Work & { seen: [number, number][]; controller: AbortController } {
  const controller = new AbortController();
  const seen: [number, number][] = [];
  return { pool, controller, seen, signal: controller.signal, progress: (done, total) => { seen.push([done, total]); }, outsideAnswered: () => {}, log: createLogger({ level: 'silent', name: 'test' }) };
}

/** A parse item that `w-test` holds. */
export async function heldItem(pool: pg.Pool, values: Parameters<typeof insertParseItem>[1] = {}): Promise<Lease> {
  const job = await insertParseJob(pool, { user_id: values.user_id ?? 'user-1', session_id: values.session_id ?? 'session-1' });
  const item = await insertParseItem(pool, { state: 'running', job_id: job.id, ...values });
  return leaseOf('parse_items', item.id, 'pdf', { job_id: job.id });
}

/** A parse job that `w-test` holds; its items have ended with these documents. */
export async function heldJob(pool: pg.Pool, documentIds: string[], values: { user_id?: string; session_id?: string } = {}): Promise<Lease> {
  const job = await insertParseJob(pool, { state: 'running', ...values });
  for (const document_id of documentIds) await insertParseItem(pool, { state: 'succeeded', job_id: job.id, document_id, ...values });
  return leaseOf('parse_jobs', job.id, 'parse_job', {});
}

function leaseOf(queue: string, id: string, kind: string, row: Record<string, unknown>): Lease {
  return { queue, id, token: '1', kind, attempt: 0, lostLeases: 0, row } as Lease;
}

/** Settles as the worker does: one transaction, row locked, token checked. */
export async function settleWith(pool: pg.Pool, lease: Lease, outcome: Outcome): Promise<void> {
  const queue = lease.queue === 'parse_items' ? parseItems : parseJobs;
  await inTransaction(pool, (tx) => succeedWithin(tx, queue, holder, lease, outcome as Done)); // nothing here waits
}

/** Runs the handler and settles what it answers. */
export async function runToEnd(handler: Handler, pool: pg.Pool, lease: Lease, work: Work = workOn(pool)): Promise<void> {
  await settleWith(pool, lease, await handler(lease, work));
}

export async function rowOf(pool: pg.Pool, lease: Lease): Promise<Record<string, unknown>> {
  const { rows } = await pool.query(`select * from ${lease.queue} where id = $1`, [lease.id]);
  return rows[0] as Record<string, unknown>;
}
