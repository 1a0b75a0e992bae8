import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { analysisJobs } from '../lease/queues.js';
import type { Reader } from './read.js';
import { ms, readOnly, readStamp } from './read.js';
import type { CitationPage, VerdictCounts } from './report-citations.js';
import { countVerdicts, readCitations } from './report-citations.js';
import type { CitationFilters } from './report-filters.js';
import type { CheckHolder, FilesView, SurvivedRedeploy } from './report-journey.js';
import { readFiles, readHolders, readSurvived } from './report-journey.js';
import { selectRows } from './row-select.js';
import type { RowView, Stamp } from './row-view.js';

/** How well the thesis could be read: counts, and codes of reasons. No text. */
export interface ThesisReading {
  claimsTotal: number;
  marksSeen: number;
  marksResolved: number;
  /** Marks by the reason for which they were not resolved. */
  unresolved: Record<string, number>;
}

export interface ReportPage extends Stamp {
  row: RowView;
  userId: string;
  sessionId: string;
  /** Null when it was erased. */
  thesis: { filename: string; pages: number } | null;
  judge: string | null;
  files: FilesView;
  /** Null before the claims were read. */
  reading: ThesisReading | null;
  readAt: number | null;
  verdicts: VerdictCounts;
  lastCheckAt: number | null;
  holders: CheckHolder[];
  redeploys: SurvivedRedeploy[];
  citations: CitationPage;
  /** False: text was left out because of the reader's role. */
  withText: boolean;
}

/** A report, finished or on its way; null if there is no such analysis. Own read-only transaction. @throws ReadTimeoutError */
export function readReport(kysely: Kysely<DB>, id: string, filters: CitationFilters, withText: boolean): Promise<ReportPage | null> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const [row] = await selectRows(reader, analysisJobs, [id]);
    if (!row) return null;
    const facts = await readFacts(reader, id);
    const verdicts = (await countVerdicts(reader, [id])).get(id)!;
    return {
      ...stamp, row, ...facts,
      files: await readFiles(reader, facts.userId, facts.sessionId, facts.readAt),
      verdicts: verdicts.counts, lastCheckAt: verdicts.lastAt,
      holders: await readHolders(reader, id), redeploys: await readSurvived(reader, id),
      citations: await readCitations(reader, id, filters, withText), withText,
    };
  });
}

type Facts = Pick<ReportPage, 'userId' | 'sessionId' | 'thesis' | 'judge' | 'reading' | 'readAt'>;

/** The claims are read when their checks come into being; a thesis without any is finished in that moment. */
async function readFacts(reader: Reader, id: string): Promise<Facts> {
  const { rows } = await sql<Facts>`
    select a.user_id as "userId", a.session_id as "sessionId", a.judge,
      case when d.id is null then null else json_build_object('filename', d.filename, 'pages', d.page_count) end as thesis,
      case when a.claims_total is null then null else json_build_object('claimsTotal', a.claims_total, 'marksSeen', coalesce(a.marks_seen, 0),
        'marksResolved', coalesce(a.marks_resolved, 0), 'unresolved', coalesce(a.reading#>'{marks,reasons}', '{}')) end as reading,
      case when a.claims_total is not null then coalesce(
        (select ${ms('c.created_at')} from job_citations c where c.job_id = a.id order by c.ordinal limit 1), ${ms('a.finished_at')}) end as "readAt"
    from analysis_jobs a left join documents d on d.id = a.thesis_document_id and d.user_id = a.user_id
    where a.id = ${id}::uuid`.execute(reader);
  return rows[0]!;
}
