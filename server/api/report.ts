/** GET /api/analysis-jobs/:jobId/report: one verdict a citation, whatever became of its check. Read in one statement, so that counts and verdicts agree. */
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { analysisNotFound, SURVIVED } from './analysis-view.js';
import { isUuid } from './ids.js';
import { Problem } from './problem.js';

export type ReportVerdict = 'supported' | 'partly_supported' | 'not_supported' | 'source_missing' | 'not_checked';

export interface ReportEvidence {
  documentId: string;
  page: number;
  charFrom: number;
  charTo: number;
  quote: string;
}

export interface ReportCitation {
  citationId: string;
  claim: { text: string; page: number; charFrom: number; charTo: number };
  cited: { mark: string; locator: string | null; entry: string | null; documentId: string | null; filename: string | null; reason: string | null };
  verdict: ReportVerdict;
  confidence: number | null;
  evidence: ReportEvidence[];
  judge: string | null;
  rationale: string | null;
  downgraded: string | null;
  error: { code: string; message: string } | null;
}

export interface Report {
  jobId: string;
  state: string;
  thesisDocumentId: string | null;
  judge: string | null;
  survivedRedeploys: number;
  createdAt: string;
  finishedAt: string;
  marks: { seen: number; resolved: number };
  /** How well the thesis could be read: marks by kind, and why some were not resolved. */
  reading: unknown;
  claims: number;
  counts: Record<ReportVerdict, number>;
  verdicts: ReportCitation[];
}

/** A report of some thousand citations has some megabytes (ms). */
const LIMIT_MS = 20_000;

interface Row {
  state: string;
  thesis: string | null;
  judge: string | null;
  redeploys: number;
  created_at: Date;
  finished_at: Date | null;
  marks_seen: number | null;
  marks_resolved: number | null;
  reading: unknown;
  verdicts: ReportCitation[];
}

const CITATION = `json_build_object('citationId', c.id, 'claim', json_build_object('text', c.claim, 'page', c.page, 'charFrom', c.char_from, 'charTo', c.char_to),
  'cited', json_build_object('mark', c.mark, 'locator', c.locator, 'entry', c.entry, 'documentId', c.document_id, 'filename', d.filename, 'reason', c.reason),
  'verdict', coalesce(c.verdict, 'not_checked'), 'confidence', c.confidence, 'evidence', coalesce(c.evidence, '[]'), 'judge', c.judge, 'rationale', c.rationale, 'downgraded', c.downgraded,
  'error', case when c.verdict is null and c.error_code is not null then json_build_object('code', c.error_code, 'message', c.error_message) end)`;

/**
 * Throws 404 for an unknown or malformed id, 409 `not_finished` while it runs: also while an operator has failed citations of a finished one checked
 * again, since a report that is about to change is not one to be filed away.
 */
export async function readReport(pool: pg.Pool, jobId: string): Promise<Report> {
  if (!isUuid(jobId)) throw analysisNotFound();
  const { rows } = await pool.query<Row>(limited(
    `select j.state, j.thesis_document_id as thesis, j.judge, ${SURVIVED} as redeploys, j.created_at, j.finished_at, j.marks_seen, j.marks_resolved, j.reading,
            case when j.finished_at is null then '[]' else coalesce((select json_agg(${CITATION} order by c.ordinal)
              from job_citations c left join documents d on d.id = c.document_id and d.user_id = c.user_id where c.job_id = j.id and c.user_id = j.user_id), '[]') end as verdicts
       from analysis_jobs j where j.id = $1`, [jobId], LIMIT_MS));
  const row = rows[0];
  if (!row) throw analysisNotFound();
  if (!row.finished_at) throw notFinished(jobId, row.state);
  return {
    jobId, state: row.state, thesisDocumentId: row.thesis, judge: row.judge, survivedRedeploys: row.redeploys,
    createdAt: row.created_at.toISOString(), finishedAt: row.finished_at.toISOString(),
    marks: { seen: row.marks_seen ?? 0, resolved: row.marks_resolved ?? 0 }, reading: row.reading,
    claims: row.verdicts.length, counts: countsOf(row.verdicts), verdicts: row.verdicts,
  };
}

function countsOf(verdicts: readonly ReportCitation[]): Report['counts'] {
  const counts = { supported: 0, partly_supported: 0, not_supported: 0, source_missing: 0, not_checked: 0 };
  for (const { verdict } of verdicts) counts[verdict] += 1;
  return counts;
}

function notFinished(jobId: string, state: string): Problem {
  return new Problem(409, 'not_finished', `This analysis is ${state}; its report exists once it has ended (failed checks of one that had ended may be repeated). Ask GET /api/analysis-jobs/${jobId} until finishedAt is set.`, { extra: { state } });
}
