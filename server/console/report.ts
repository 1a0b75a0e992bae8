import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { analysisJobs } from '../lease/queues.js';
import type { JourneyOptions, JourneyView } from './journey.js';
import { readJourney } from './journey.js';
import type { Reader } from './read.js';
import { readOnly, readStamp } from './read.js';
import type { CitationPage, VerdictCounts } from './report-citations.js';
import { countVerdicts, readCitations } from './report-citations.js';
import type { CitationFilters } from './report-filters.js';
import { mayRevealText, readReveal, type TextReader } from './report-text.js';
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
  journey: JourneyView;
  /** Null before the claims were read. */
  reading: ThesisReading | null;
  verdicts: VerdictCounts;
  citations: CitationPage;
  /** Until when this reader sees the text (ms since 1970); null: it was left out. */
  revealedUntil: number | null;
  /** Whether the reader's role may reveal it. */
  mayReveal: boolean;
}

/** A report, finished or on its way; null if there is no such analysis. Own read-only transaction. @throws ReadTimeoutError */
export function readReport(kysely: Kysely<DB>, id: string, filters: CitationFilters, person: TextReader, options?: JourneyOptions): Promise<ReportPage | null> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const [row] = await selectRows(reader, analysisJobs, [id]);
    if (!row) return null;
    const facts = await readFacts(reader, id);
    const reveal = await readReveal(reader, person, id);
    return {
      ...stamp, row, ...facts,
      journey: (await readJourney(reader, { userId: facts.userId, sessionId: facts.sessionId, analysisId: id }, options))!,
      verdicts: (await countVerdicts(reader, [id])).get(id)!.counts,
      citations: await readCitations(reader, id, filters, reveal !== null), revealedUntil: reveal?.until ?? null, mayReveal: mayRevealText(person.role),
    };
  });
}

type Facts = Pick<ReportPage, 'userId' | 'sessionId' | 'thesis' | 'judge' | 'reading'>;

async function readFacts(reader: Reader, id: string): Promise<Facts> {
  const { rows } = await sql<Facts>`
    select a.user_id as "userId", a.session_id as "sessionId", a.judge,
      case when d.id is null then null else json_build_object('filename', d.filename, 'pages', d.page_count) end as thesis,
      case when a.claims_total is null then null else json_build_object('claimsTotal', a.claims_total, 'marksSeen', coalesce(a.marks_seen, 0),
        'marksResolved', coalesce(a.marks_resolved, 0), 'unresolved', coalesce(a.reading#>'{marks,reasons}', '{}')) end as reading
    from analysis_jobs a left join documents d on d.id = a.thesis_document_id and d.user_id = a.user_id
    where a.id = ${id}::uuid`.execute(reader);
  return rows[0]!;
}
