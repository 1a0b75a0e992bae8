/**
 * DELETE /api/users/:userId: destroys documents, chunks, claims, verdicts, e-mail and file names, in one transaction. What stays is counts
 * without a name: queue_events and queue_minutes know ids of rows that no longer exist. Not while work of this user is open.
 */
import type pg from 'pg';
import { analysisJobs, jobCitations, parseItems, parseJobs } from '../lease/queues.js';
import { readId } from './ids.js';
import { Problem } from './problem.js';
import { withUserLock } from './user-lock.js';

export interface Erased {
  documents: number;
  chunks: number;
  uploads: number;
  files: number;
  analyses: number;
  citations: number;
}

/** Children before parents. */
const LEASED = [jobCitations, analysisJobs, parseItems, parseJobs];

/** `changed` names the rows that are gone (a hint to consoles). */
export async function eraseUser(pool: pg.Pool, user: unknown): Promise<{ erased: Erased; changed: { table: string; ids: string[] }[] }> {
  const userId = readId(user, 'the user id in the path');
  return withUserLock(pool, userId, async (tx) => {
    await refuseOpenWork(tx, userId);
    await forgetAnswers(tx, userId);
    const changed: { table: string; ids: string[] }[] = [];
    for (const { table } of LEASED) changed.push({ table, ids: await deleteRows(tx, table, userId) });
    const [citations, analyses, files, uploads] = changed.map(({ ids }) => ids.length) as [number, number, number, number];
    return { erased: { ...(await eraseDocuments(tx, userId)), uploads, files, analyses, citations }, changed };
  });
}

async function refuseOpenWork(tx: pg.PoolClient, userId: string): Promise<void> {
  const open = LEASED.map(({ table }) => `exists (select 1 from ${table} where user_id = $1 and finished_at is null)`).join(' or ');
  const { rows } = await tx.query<{ open: boolean }>(`select ${open} as open`, [userId]);
  if (rows[0]!.open) throw new Problem(409, 'work_running', 'Work of this user is still waiting or running. Nothing was erased; wait until it has ended, or have an operator cancel it, and ask again.');
}

/** Answers kept for repeated requests name files. */
async function forgetAnswers(tx: pg.PoolClient, userId: string): Promise<void> {
  await tx.query(
    `delete from idempotency_keys where response ->> 'jobId' in (select id::text from parse_jobs where user_id = $1 union all select id::text from analysis_jobs where user_id = $1)`, [userId]);
}

async function deleteRows(tx: pg.PoolClient, table: string, userId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(`delete from ${table} where user_id = $1 returning id`, [userId]);
  return rows.map(({ id }) => id);
}

/** Chunks and links go with their document. */
async function eraseDocuments(tx: pg.PoolClient, userId: string): Promise<Pick<Erased, 'documents' | 'chunks'>> {
  const { rows } = await tx.query<{ chunks: number }>('select count(*)::int as chunks from document_chunks c join documents d on d.id = c.document_id where d.user_id = $1', [userId]);
  const { rowCount } = await tx.query('delete from documents where user_id = $1', [userId]);
  return { documents: rowCount ?? 0, chunks: rows[0]!.chunks };
}
