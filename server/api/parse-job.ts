/**
 * GET /api/parse-jobs/:jobId, polled every 1.5 s by many clients. One read by primary key, in the statement that reads the caller's token, says
 * whether anything has changed since the client's ETag; only then a second one fetches the state. The ETag sums the versions, which every write to a row bumps.
 */
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { itemError } from './item-errors.js';
import { Problem } from './problem.js';

const VERSIONS = `j.version::text || '.' || (select coalesce(sum(i.version), 0) || '.' || count(*) from parse_items i where i.job_id = j.id)`;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export interface ParseItemView {
  itemId: string;
  filename: string;
  state: string;
  pages: number | null;
  chunks: number | null;
  quality: 'good' | 'partial' | 'garbled' | null;
  failedPages: number[];
  documentId: string | null;
  error: { code: string; message: string } | null;
}

export interface ParseJobView {
  jobId: string;
  state: string;
  items: ParseItemView[];
}

/** What the ETag of the job `asked.also` says. */
export const PARSE_JOB_TAG = `select ${VERSIONS} from parse_jobs j where j.id = asked.also`;

/** The job, its items in upload order, and the ETag of exactly this state (read in one snapshot). Throws 404 for an unknown or malformed id. */
export async function readParseJob(pool: pg.Pool, jobId: string): Promise<{ tag: string; body: ParseJobView }> {
  requireId(jobId);
  const { rows } = await pool.query<{ id: string; state: string; versions: string; items: ItemRow[] | null }>(limited(
    `select j.id, j.state, ${VERSIONS} as versions,
            (select json_agg(json_build_object('id', i.id, 'filename', i.filename, 'state', i.state, 'page_count', i.page_count, 'chunk_count', i.chunk_count,
                             'quality', i.quality, 'failed_pages', i.failed_pages, 'document_id', i.document_id, 'error_code', i.error_code) order by i.id)
               from parse_items i where i.job_id = j.id) as items
       from parse_jobs j where j.id = $1`,
    [jobId],
  ));
  const row = rows[0];
  if (!row) throw notFound();
  return { tag: `"${row.versions}"`, body: { jobId: row.id, state: row.state, items: (row.items ?? []).map(itemView) } };
}

interface ItemRow {
  id: string;
  filename: string;
  state: string;
  page_count: number | null;
  chunk_count: number | null;
  quality: ParseItemView['quality'];
  failed_pages: number[] | null;
  document_id: string | null;
  error_code: string | null;
}

/** An error is told only once it is final: a file that waits for its next try has not failed. */
function itemView(row: ItemRow): ParseItemView {
  const ended = row.state === 'failed' || row.state === 'cancelled';
  return {
    itemId: row.id,
    filename: row.filename,
    state: row.state,
    pages: row.page_count,
    chunks: row.chunk_count,
    quality: row.quality,
    failedPages: row.failed_pages ?? [],
    documentId: row.document_id,
    error: ended ? itemError(row.error_code ?? (row.state === 'cancelled' ? 'cancelled' : 'internal')) : null,
  };
}

/** A uuid column refuses anything else with an error of its own. */
function requireId(jobId: string): void {
  if (!UUID.test(jobId)) throw notFound();
}

function notFound(): Problem {
  return new Problem(404, 'job_not_found', 'There is no parse job with this id. Use the jobId that POST /api/parse-sources answered.');
}
