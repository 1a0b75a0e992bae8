import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { analysisJobs } from '../lease/queues.js';
import type { QueueFilters } from './queue-filters.js';
import { parseQueueFilters } from './queue-filters.js';
import type { QueuePage } from './queue-page.js';
import { readQueuePage } from './queue-page.js';
import type { Reader } from './read.js';
import { readOnly } from './read.js';
import type { VerdictCounts } from './report-citations.js';
import { countVerdicts } from './report-citations.js';

/** What a list says of a report besides its row. */
export interface ReportAbout {
  /** File name of the thesis; null when it was erased. */
  thesis: string | null;
  claimsTotal: number | null;
  verdicts: VerdictCounts;
}

export interface ReportsPage extends QueuePage {
  about: Record<string, ReportAbout>;
}

/** A list of reports is narrowed by state, user and session, and by nothing else. */
export function parseReportFilters(query: URLSearchParams): QueueFilters {
  const { states, user, session, before, after } = parseQueueFilters(query);
  return { states: states.filter((state) => state === 'stale' || (analysisJobs.states as readonly string[]).includes(state)), worker: null, version: null, user, session, error: null, older: null, newer: null, before, after };
}

/** One page of analyses, newest first, in two read-only transactions. @throws ReadTimeoutError */
export async function readReports(kysely: Kysely<DB>, filters: QueueFilters): Promise<ReportsPage> {
  const page = await readQueuePage(kysely, analysisJobs, filters);
  const about = await readOnly(kysely, (reader) => readAbout(reader, page.rows.map((row) => row.id)));
  return { ...page, about };
}

async function readAbout(reader: Reader, ids: readonly string[]): Promise<ReportsPage['about']> {
  const { rows } = await sql<{ id: string; thesis: string | null; claimsTotal: number | null }>`
    select a.id, d.filename as thesis, a.claims_total as "claimsTotal"
    from analysis_jobs a left join documents d on d.id = a.thesis_document_id and d.user_id = a.user_id
    where a.id = any(${ids}::uuid[])`.execute(reader);
  const verdicts = await countVerdicts(reader, ids);
  return Object.fromEntries(rows.map(({ id, ...facts }) => [id, { ...facts, verdicts: verdicts.get(id)!.counts }]));
}
