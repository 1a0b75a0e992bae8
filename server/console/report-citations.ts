import { sql } from 'kysely';
import type { LeasedState } from '../lease/queues.js';
import type { Reader } from './read.js';
import { ms } from './read.js';
import type { CitationFilters, ShownVerdict } from './report-filters.js';
import { SHOWN_VERDICTS } from './report-filters.js';

export const CITATIONS_PER_PAGE = 50;

/** Where the judge looked. `document` is its file name, null when it was erased; `quote` is null when masked. Pages count from 1, offsets are UTF-16 code units. */
export interface EvidenceView {
  documentId: string;
  document: string | null;
  page: number;
  charFrom: number;
  charTo: number;
  quote: string | null;
}

/** One claim and one work it cites. Every text of the thesis, its references, the sources or the judge is null when masked. */
export interface CitationView {
  id: string;
  ordinal: number;
  page: number;
  charFrom: number;
  charTo: number;
  state: LeasedState;
  verdict: ShownVerdict;
  confidence: number | null;
  /** Why no entry or no document was found (a code). */
  reason: string | null;
  /** Why the verdict is lower than the judge wanted it (a code). */
  downgraded: string | null;
  judge: string | null;
  errorCode: string | null;
  finishedAt: number | null;
  document: { id: string; filename: string } | null;
  evidence: EvidenceView[];
  claim: string | null;
  mark: string | null;
  locator: string | null;
  entry: string | null;
  rationale: string | null;
}

export interface CitationPage {
  rows: CitationView[];
  /** Cursors (ordinals) for the URL; null where there is nothing more. */
  next: number | null;
  previous: number | null;
}

export type VerdictCounts = Record<ShownVerdict, number>;

/** The verdict as shown: a check that ended without one was not made; one that has not ended is open. */
const SHOWN = `coalesce(c.verdict, case when c.state in ('failed', 'cancelled') then 'not_checked' else 'open' end)`;

/** How many citations of each of these analyses have which verdict, and when the last check ended. */
export async function countVerdicts(reader: Reader, jobIds: readonly string[]): Promise<Map<string, { counts: VerdictCounts; lastAt: number | null }>> {
  const { rows } = await sql<{ jobId: string; verdict: ShownVerdict; n: number; lastAt: number | null }>`
    select c.job_id as "jobId", ${sql.raw(SHOWN)} as verdict, count(*)::int as n, ${ms('max(c.finished_at)')} as "lastAt"
    from job_citations c where c.job_id = any(${jobIds}::uuid[]) group by 1, 2`.execute(reader);
  const found = new Map(jobIds.map((id) => [id, { counts: noVerdicts(), lastAt: null as number | null }]));
  for (const { jobId, verdict, n, lastAt } of rows) {
    const job = found.get(jobId)!;
    job.counts[verdict] = n;
    job.lastAt = Math.max(job.lastAt ?? 0, lastAt ?? 0) || null;
  }
  return found;
}

function noVerdicts(): VerdictCounts {
  return Object.fromEntries(SHOWN_VERDICTS.map((verdict) => [verdict, 0])) as VerdictCounts;
}

/** One page in the order of the thesis. Without `withText`, no text leaves the database. */
export async function readCitations(reader: Reader, jobId: string, filters: CitationFilters, withText: boolean): Promise<CitationPage> {
  const backwards = filters.before !== null;
  const { rows } = await sql<CitationView>`
    select c.id, c.ordinal, c.page, c.char_from as "charFrom", c.char_to as "charTo", c.state, ${sql.raw(SHOWN)} as verdict,
      c.confidence::float8 as confidence, c.reason, c.downgraded, c.judge, c.error_code as "errorCode", ${ms('c.finished_at')} as "finishedAt",
      case when d.id is null then null else json_build_object('id', d.id, 'filename', d.filename) end as document,
      ${evidence(withText)} as evidence, ${texts(withText)}
    from job_citations c left join documents d on d.id = c.document_id and d.user_id = c.user_id
    where c.job_id = ${jobId}::uuid and ${condition(filters)}
    order by c.ordinal ${sql.raw(backwards ? 'desc' : 'asc')} limit ${sql.lit(CITATIONS_PER_PAGE + 1)}`.execute(reader);
  return pageOf(rows, filters);
}

function condition({ verdict, after, before }: CitationFilters) {
  const conditions = [sql`true`];
  if (verdict !== null) conditions.push(sql`${sql.raw(SHOWN)} = ${verdict}`);
  if (before !== null) conditions.push(sql`c.ordinal < ${before}`);
  else if (after !== null) conditions.push(sql`c.ordinal > ${after}`);
  return sql.join(conditions, sql` and `);
}

const TEXTS = ['claim', 'mark', 'locator', 'entry', 'rationale'] as const;

function texts(withText: boolean) {
  return sql.raw(TEXTS.map((column) => `${withText ? `c.${column}` : 'null::text'} as ${column}`).join(', '));
}

function evidence(withText: boolean) {
  return sql.raw<EvidenceView[]>(`coalesce((
    select jsonb_agg(jsonb_build_object('documentId', e.value->'documentId', 'document', ed.filename, 'page', e.value->'page',
             'charFrom', e.value->'charFrom', 'charTo', e.value->'charTo', 'quote', ${withText ? `e.value->'quote'` : 'null'}) order by e.ordinality)
    from jsonb_array_elements(case when jsonb_typeof(c.evidence) = 'array' then c.evidence end) with ordinality as e
    left join documents ed on ed.id = (e.value->>'documentId')::uuid and ed.user_id = c.user_id), '[]')`);
}

function pageOf(found: CitationView[], { after, before }: CitationFilters): CitationPage {
  const more = found.length > CITATIONS_PER_PAGE;
  const rows = found.slice(0, CITATIONS_PER_PAGE);
  if (before !== null) rows.reverse();
  const first = rows[0]?.ordinal ?? null;
  const last = rows.at(-1)?.ordinal ?? null;
  if (before !== null) return { rows, next: last, previous: more ? first : null };
  return { rows, next: more ? last : null, previous: after === null ? null : first };
}
