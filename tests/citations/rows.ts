/** Rows of analyses and citations through the engine's own enqueue. */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { enqueue, enqueueAll } from '../../server/lease/enqueue.js';
import { analysisJobs, jobCitations } from '../../server/lease/queues.js';

type Db = pg.Pool | pg.PoolClient;

export async function newAnalysis(db: Db, owner: { userId?: string; sessionId?: string; thesis?: string } = {}): Promise<string> {
  const id = uuidv7();
  await enqueue(db, analysisJobs, { id, columns: { user_id: owner.userId ?? `user-${id}`, session_id: owner.sessionId ?? 'session-1', thesis_document_id: owner.thesis ?? null } });
  return id;
}

export function citationRows(jobId: string, userId: string, count: number, more: Record<string, unknown> = {}): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, ordinal) => ({
    id: uuidv7(), state: 'queued', job_id: jobId, user_id: userId, session_id: 'session-1', ordinal, claim: `Claim ${ordinal}.`, mark: '(A 2001)', page: 1, char_from: 0, char_to: 9, ...more,
  }));
}

/** An analysis that awaits these checks, as its lease would leave it. */
export async function awaitingAnalysis(db: Db, userId: string, count: number): Promise<{ jobId: string; citationIds: string[] }> {
  const jobId = await newAnalysis(db, { userId, sessionId: `session-${uuidv7()}` });
  const rows = citationRows(jobId, userId, count);
  await enqueueAll(db, jobCitations, rows);
  await db.query(`update analysis_jobs set state = 'awaiting', open_children = $2, total_children = $2 where id = $1`, [jobId, count]);
  return { jobId, citationIds: rows.map((row) => row.id as string) };
}

export interface AnalysisRow { state: string; open_children: number; succeeded_children: number; attempt: number; lost_leases: number; error_code: string | null; error_message: string | null; finished_at: Date | null; worker_id: string | null; wait: number }

export async function analysis(db: Pick<pg.Pool, 'query'>, id: string): Promise<AnalysisRow> {
  const { rows } = await db.query('select *, extract(epoch from run_after - now())::float8 as wait from analysis_jobs where id = $1', [id]);
  return rows[0] as AnalysisRow;
}

export async function citationStates(db: Pick<pg.Pool, 'query'>, jobId: string): Promise<Record<string, number>> {
  const { rows } = await db.query<{ state: string; n: number }>('select state, count(*)::int as n from job_citations where job_id = $1 group by state', [jobId]);
  return Object.fromEntries(rows.map((row) => [row.state, row.n]));
}

export async function clearAnalyses(db: Pick<pg.Pool, 'query'>): Promise<void> {
  await db.query('delete from job_citations; delete from analysis_jobs; delete from queue_events');
}
