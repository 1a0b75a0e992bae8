import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { queues } from '../../server/lease/queues.js';

type Db = Pick<pg.Pool, 'query'>;
type Values = Record<string, unknown>;
export type RowState = 'awaiting' | 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** Inserts one row as given and answers it whole. Keys are column names; `sql('now() …')` values go in as expressions. */
export async function insertRow<T extends Values = Values>(db: Db, table: string, values: Values): Promise<T> {
  const columns = Object.keys(values);
  const parameters: unknown[] = [];
  const expressions = columns.map(column => {
    const value = values[column];
    return value instanceof Expression ? value.text : `$${parameters.push(value)}`;
  });
  const { rows } = await db.query(`insert into ${table} (${columns.join(', ')}) values (${expressions.join(', ')}) returning *`, parameters);
  return rows[0] as T;
}

class Expression {
  constructor(readonly text: string) {}
}

/** An SQL expression as a value: `{ created_at: sql("now() - interval '1 hour'") }`. */
export function sql(text: string): Expression {
  return new Expression(text);
}

/** The lease columns of a row in `state`, all constraints met. A running row is held by `w-test` with 60 s left. */
export function leaseColumns(state: RowState): Values {
  if (state === 'running') {
    return { state, lease_token: 1, worker_id: 'w-test', claimed_at: sql('now()'), heartbeat_at: sql('now()'), lease_expires_at: sql("now() + interval '60 seconds'") };
  }
  if (state === 'succeeded') return { state, lease_token: 1, finished_at: sql('now()') };
  if (state === 'failed') return { state, lease_token: 1, finished_at: sql('now()'), error_code: 'internal', error_message: 'It failed in a test.' };
  if (state === 'cancelled') return { state, finished_at: sql('now()'), error_code: 'cancelled', error_message: 'It was cancelled in a test.' };
  return { state };
}

const isEnd = (state: unknown) => ['succeeded', 'failed', 'cancelled'].includes(String(state));

/** A parse job; one open child unless its state says that the children have ended. */
export function insertParseJob(db: Db, values: Values & { state?: RowState } = {}) {
  const state = values.state ?? 'awaiting';
  return insertRow<{ id: string, user_id: string, session_id: string, state: RowState }>(db, 'parse_jobs', {
    id: uuidv7(), user_id: 'user-1', session_id: 'session-1',
    open_children: state === 'awaiting' ? 1 : 0, total_children: 1,
    ...leaseColumns(state), ...values,
  });
}

/** A parse item with a few staged bytes (none when it has ended). Makes its job when `job_id` is not given. */
export async function insertParseItem(db: Db, values: Values & { state?: RowState, file_bytes?: Buffer } = {}) {
  const state = values.state ?? 'queued';
  const bytes = values.file_bytes ?? randomBytes(64);
  const job_id = values.job_id ?? (await insertParseJob(db, isEnd(state) ? { state: state === 'succeeded' ? 'succeeded' : 'failed' } : {})).id;
  return insertRow<{ id: string, job_id: string, state: RowState, lease_token: string }>(db, 'parse_items', {
    id: uuidv7(), user_id: 'user-1', session_id: 'session-1', filename: 'paper.pdf',
    byte_size: bytes.length, content_sha256: createHash('sha256').update(bytes).digest(),
    ...leaseColumns(state), ...values, job_id, file_bytes: isEnd(state) ? null : bytes,
  });
}

/** A document of two short chunks. */
export async function insertDocument(db: Db, values: Values = {}) {
  const document = await insertRow<{ id: string, user_id: string }>(db, 'documents', {
    id: uuidv7(), user_id: 'user-1', content_sha256: randomBytes(32), filename: 'paper.pdf', byte_size: 64, page_count: 1, letters: 20, quality: 'good', ...values,
  });
  for (const ordinal of [0, 1]) {
    await insertRow(db, 'document_chunks', { document_id: document.id, ordinal, page_from: 1, page_to: 1, char_from: ordinal * 10, char_to: ordinal * 10 + 10, body: 'ten letter' });
  }
  return document;
}

/** A live worker process that has just beaten. It knows what this build knows of its capabilities' queues, unless `kinds` says otherwise. */
export function insertWorker(db: Db, values: Values = {}) {
  const capabilities = (values.capabilities ?? ['parse']) as string[];
  const kinds = Object.fromEntries(queues.filter((queue) => capabilities.includes(queue.capability)).map((queue) => [queue.table, queue.kinds]));
  return insertRow<{ id: string }>(db, 'workers', {
    id: `w-${uuidv7()}`, label: 'test', role: 'worker', version: 'dev', host: 'test', pid: 1, slots: 4, capabilities, kinds, ...values,
  });
}
