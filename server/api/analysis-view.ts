/** GET /api/analysis-jobs/:jobId. The ETag is the row's version, which every end of a citation bumps, and what else the answer depends on. */
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { survived } from '../lease/redeploys.js';
import { isUuid } from './ids.js';
import { Problem } from './problem.js';

export interface AnalysisView {
  jobId: string;
  state: string;
  claims: { total: number; done: number };
  survivedRedeploys: number;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  error: { code: string; message: string } | null;
}

/** Redeploys of web or worker that overlap an analysis's time from creation to end. `j`: its row. */
export const SURVIVED = `(select count(*)::int from redeploys r where ${survived('r', 'j')})`;

/** What the ETag of the analysis `asked.also` says. */
export const ANALYSIS_TAG = `select j.version || '.' || ${SURVIVED} from analysis_jobs j where j.id = asked.also`;

interface Row {
  state: string;
  claims: number;
  open: number;
  redeploys: number;
  created_at: Date;
  claimed_at: Date | null;
  finished_at: Date | null;
  error_code: string | null;
  error_message: string | null;
  version: string;
}

/** The analysis and the ETag of exactly this state. Throws 404 for an unknown or malformed id. */
export async function readAnalysis(pool: pg.Pool, jobId: string): Promise<{ tag: string; body: AnalysisView }> {
  if (!isUuid(jobId)) throw analysisNotFound();
  const { rows } = await pool.query<Row>(limited(
    `select j.state, j.total_children as claims, j.open_children as open, j.created_at, j.claimed_at, j.finished_at, j.error_code, j.error_message, j.version::text as version,
            ${SURVIVED} as redeploys from analysis_jobs j where j.id = $1`, [jobId]));
  const row = rows[0];
  if (!row) throw analysisNotFound();
  return { tag: `"${row.version}.${row.redeploys}"`, body: viewOf(jobId, row) };
}

/** An error is told only once it is final: an analysis that waits for its next try has not failed. */
function viewOf(jobId: string, row: Row): AnalysisView {
  const ended = row.state === 'failed' || row.state === 'cancelled';
  return {
    jobId, state: row.state, claims: { total: row.claims, done: row.claims - row.open }, survivedRedeploys: row.redeploys,
    createdAt: row.created_at.toISOString(), startedAt: row.claimed_at?.toISOString() ?? null, finishedAt: row.finished_at?.toISOString() ?? null,
    error: ended ? { code: row.error_code ?? 'internal', message: row.error_message ?? '' } : null,
  };
}

export function analysisNotFound(): Problem {
  return new Problem(404, 'job_not_found', 'There is no analysis with this id. Use the jobId that POST /api/analysis-jobs answered.');
}
