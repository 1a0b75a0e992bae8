/**
 * Erasing a user: destroys documents, chunks, claims, verdicts, e-mail and file names. What stays is counts without a name: queue_events and
 * queue_minutes know ids of rows that no longer exist. Not while work of this user is open.
 */
import type { Queryable } from '../lease/pump.js';
import { analysisJobs, jobCitations, parseItems, parseJobs } from '../lease/queues.js';

export interface Erased {
  documents: number;
  chunks: number;
  uploads: number;
  files: number;
  analyses: number;
  citations: number;
}

export interface Erasure {
  erased: Erased;
  /** The rows that are gone (a hint to consoles). */
  changed: { table: string; ids: string[] }[];
}

/** Children before parents. */
const LEASED = [jobCitations, analysisJobs, parseItems, parseJobs];

/** Must run in a transaction that holds the user's lock. Deletes as many rows as the user has: seconds for thousands. */
export async function eraseUserData(tx: Queryable, userId: string): Promise<Erasure | 'work_running'> {
  if (await hasOpenWork(tx, userId)) return 'work_running';
  await forgetAnswers(tx, userId);
  const changed: { table: string; ids: string[] }[] = [];
  for (const { table } of LEASED) changed.push({ table, ids: await deleteRows(tx, table, userId) });
  const [citations, analyses, files, uploads] = changed.map(({ ids }) => ids.length) as [number, number, number, number];
  return { erased: { ...(await eraseDocuments(tx, userId)), uploads, files, analyses, citations }, changed };
}

export async function hasOpenWork(tx: Queryable, userId: string): Promise<boolean> {
  const open = LEASED.map(({ table }) => `exists (select 1 from ${table} where user_id = $1 and finished_at is null)`).join(' or ');
  const { rows } = await tx.query({ text: `select ${open} as open`, values: [userId] });
  return rows[0]!.open as boolean;
}

/** What an erasure would destroy now. */
export async function countUserData(tx: Queryable, userId: string): Promise<Erased> {
  const counts: [keyof Erased, string][] = [
    ['documents', 'documents d where d.user_id = $1'],
    ['chunks', 'document_chunks c join documents d on d.id = c.document_id where d.user_id = $1'],
    ['uploads', `${parseJobs.table} where user_id = $1`], ['files', `${parseItems.table} where user_id = $1`],
    ['analyses', `${analysisJobs.table} where user_id = $1`], ['citations', `${jobCitations.table} where user_id = $1`],
  ];
  const columns = counts.map(([name, from]) => `(select count(*)::int from ${from}) as ${name}`).join(', ');
  const { rows } = await tx.query({ text: `select ${columns}`, values: [userId] });
  return rows[0] as unknown as Erased;
}

/** Answers kept for repeated requests name files. */
async function forgetAnswers(tx: Queryable, userId: string): Promise<void> {
  await tx.query({
    text: `delete from idempotency_keys where response ->> 'jobId' in (select id::text from parse_jobs where user_id = $1 union all select id::text from analysis_jobs where user_id = $1)`, values: [userId],
  });
}

async function deleteRows(tx: Queryable, table: string, userId: string): Promise<string[]> {
  const { rows } = await tx.query({ text: `delete from ${table} where user_id = $1 returning id`, values: [userId] });
  return rows.map(({ id }) => id as string);
}

/** Chunks and links go with their document. */
async function eraseDocuments(tx: Queryable, userId: string): Promise<Pick<Erased, 'documents' | 'chunks'>> {
  const { rows } = await tx.query({ text: 'select count(*)::int as chunks from document_chunks c join documents d on d.id = c.document_id where d.user_id = $1', values: [userId] });
  const { rowCount } = await tx.query({ text: 'delete from documents where user_id = $1', values: [userId] });
  return { documents: rowCount ?? 0, chunks: rows[0]!.chunks as number };
}
