/**
 * Makes a received upload durable: one short transaction that replays, admits, inserts the job and its items with their bytes, and kicks.
 * Crash anywhere before the commit: nothing exists. After it: everything does, whether or not the client heard of it.
 */
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { kick } from '../bus/kick.js';
import { inTransaction } from '../db/connection.js';
import { enqueue } from '../lease/enqueue.js';
import { parseItems, parseJobs } from '../lease/queues.js';
import { admit, lockUser, type Caps } from './admission.js';
import { earlierAnswer, keepAnswer, type IdempotentRequest, type StoredAnswer } from './idempotency.js';
import type { ReceivedFile } from './receive-file.js';
import type { UploadOwner } from './upload-fields.js';
import { requireParser } from './worker-gate.js';

/** Each statement's limit (ms); the longest writes one file. */
const STATEMENT_LIMIT_MS = 60_000;
/** How long to wait for the same user's or key's other request in another process (ms). */
const LOCK_LIMIT_MS = 15_000;

export interface StagedUpload {
  jobId: string;
  items: { itemId: string; filename: string; byteSize: number }[];
}

export interface Staging {
  pool: pg.Pool;
  caps: Caps;
  maxAttempts: number;
  /** This process could parse the upload itself. */
  takesInline: boolean;
  kickChannel: string;
  /** Told after the commit which rows are new (a hint to consoles). */
  changed(table: string, ids: string[]): void;
}

export interface CompleteUpload {
  owner: UploadOwner;
  files: readonly ReceivedFile[];
  /** Present when the client sent an Idempotency-Key. */
  request?: IdempotentRequest;
}

/** The answer to the upload: a new one, or the one given before for the same key. Throws Problems for refusals. */
export function stageUpload(staging: Staging, upload: CompleteUpload): Promise<StoredAnswer & { replayed: boolean }> {
  return inTransaction(staging.pool, async (tx) => {
    await tx.query(`set local lock_timeout = ${LOCK_LIMIT_MS}`);
    const earlier = upload.request && await earlierAnswer(tx, upload.request);
    if (earlier) return { ...earlier, replayed: true };
    await requireParser(tx, staging.takesInline);
    const answer = { status: 202, response: await stage(tx, staging, upload) };
    if (upload.request) await keepAnswer(tx, upload.request, answer);
    return { ...answer, replayed: false };
  }, { timeoutMs: STATEMENT_LIMIT_MS });
}

async function stage(tx: pg.PoolClient, staging: Staging, { owner, files }: CompleteUpload): Promise<StagedUpload> {
  await lockUser(tx, owner.userId);
  await admit(tx, owner.userId, totalBytes(files), staging.caps);
  const jobId = await insertJob(tx, staging, owner, files.length);
  const items: StagedUpload['items'] = [];
  for (const file of files) items.push(await insertItem(tx, staging, owner, jobId, file));
  await linkKnownDocuments(tx, owner, files);
  // `low`: large uploads commit later than the claim scan's mark trails the clock.
  await kick(tx, staging, { q: parseItems.table, low: true });
  return { jobId, items };
}

async function insertJob(tx: pg.PoolClient, staging: Staging, owner: UploadOwner, children: number): Promise<string> {
  const id = uuidv7();
  await enqueue(tx, parseJobs, {
    id,
    state: 'awaiting',
    maxAttempts: staging.maxAttempts,
    columns: { user_id: owner.userId, session_id: owner.sessionId, user_email: owner.userEmail, open_children: children, total_children: children },
  });
  return id;
}

/** One file's bytes in memory at a time: read here, sent as a parameter, let go. */
async function insertItem(tx: pg.PoolClient, staging: Staging, owner: UploadOwner, jobId: string, file: ReceivedFile): Promise<StagedUpload['items'][number]> {
  const itemId = uuidv7();
  await enqueue(tx, parseItems, {
    id: itemId,
    maxAttempts: staging.maxAttempts,
    columns: {
      job_id: jobId, user_id: owner.userId, session_id: owner.sessionId, filename: file.filename, byte_size: file.byteSize,
      content_sha256: file.sha256, file_bytes: await readFile(file.path),
    },
  });
  return { itemId, filename: file.filename, byteSize: file.byteSize };
}

/**
 * Files this user had parsed before are linked to the session at once. Best effort: it never blocks an upload, and the parse job's own
 * settle links them again. The savepoint keeps a failure here from failing the transaction.
 */
async function linkKnownDocuments(tx: pg.PoolClient, owner: UploadOwner, files: readonly ReceivedFile[]): Promise<void> {
  await tx.query('savepoint linking');
  try {
    await tx.query(
      `insert into session_sources (user_id, session_id, document_id, linked_by)
       select user_id, $2, id, 'upload' from documents where user_id = $1 and content_sha256 = any ($3::bytea[])
       on conflict do nothing`,
      [owner.userId, owner.sessionId, files.map((file) => file.sha256)],
    );
    await tx.query('release savepoint linking');
  } catch {
    await tx.query('rollback to savepoint linking');
  }
}

export function totalBytes(files: readonly ReceivedFile[]): number {
  return files.reduce((sum, file) => sum + file.byteSize, 0);
}
