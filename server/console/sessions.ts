import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { cleanText } from '../db/text.js';
import { isUuid } from './queue-filters.js';
import type { Reader } from './read.js';
import { ms, readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';

/** What the list shows. All of it lives in the URL. */
export interface SessionFilters {
  /** A session's or a user's id, whole. */
  q: string | null;
  /** Keyset cursor: sessions whose newest upload or analysis is older than this one. */
  before: string | null;
}

export interface SessionSummary {
  userId: string;
  sessionId: string;
  /** Its newest upload or analysis, and when that came; null for a session that only has linked documents. */
  newest: string | null;
  newestAt: number | null;
  documents: number;
  openUploads: number;
  analyses: number;
  openAnalyses: number;
}

export interface SessionsPage extends Stamp {
  sessions: SessionSummary[];
  next: string | null;
}

export const SESSIONS_PER_PAGE = 50;
/** Sessions without upload or analysis that a search adds; more of one id than this are no list to read. */
const LINKED_ONLY = 50;

/** Ids from outside are longer than this nowhere (server/api/upload-fields.ts allows 200). */
const LONGEST_ID = 200;

export function parseSessionFilters(query: URLSearchParams): SessionFilters {
  const before = query.get('before')?.toLowerCase() ?? '';
  return { q: outsideId(query.get('q')?.trim()), before: isUuid(before) ? before : null };
}

/** A session's address: its id, and whose it is where two users have one of that id. */
export function parseSessionAddress(id: string, query: URLSearchParams): { sessionId: string; userId: string | null } {
  return { sessionId: outsideId(id) ?? '', userId: outsideId(query.get('user')) };
}

function outsideId(text: string | null | undefined): string | null {
  return cleanText(text ?? '').slice(0, LONGEST_ID) || null;
}

/** Sessions by their newest upload or analysis. Own read-only transaction. @throws ReadTimeoutError */
export function readSessions(kysely: Kysely<DB>, filters: SessionFilters): Promise<SessionsPage> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const active = await readActive(reader, filters);
    const more = active.length > SESSIONS_PER_PAGE;
    const shown = active.slice(0, SESSIONS_PER_PAGE);
    const keys = more || filters.q === null ? shown : [...shown, ...(await readLinkedOnly(reader, filters.q))];
    return { ...stamp, sessions: await summarise(reader, keys), next: more ? shown.at(-1)!.newest : null };
  });
}

type Key = Pick<SessionSummary, 'userId' | 'sessionId' | 'newest'>;

/**
 * Walks uploads and analyses newest first and keeps the first of each session: as many steps as the page's sessions had jobs. One index range
 * a branch: an OR over session and user would walk the whole history for an id that is rarely there.
 */
async function readActive(reader: Reader, filters: SessionFilters): Promise<Key[]> {
  const limit = sql.lit(SESSIONS_PER_PAGE + 1);
  const columns = filters.q === null ? [null] : (['session_id', 'user_id'] as const);
  const branches = columns.flatMap((column) => [newestOf('parse_jobs', column, filters), newestOf('analysis_jobs', column, filters)]);
  const { rows } = await sql<Key>`
    select user_id as "userId", session_id as "sessionId", id as newest
    from (${sql.join(branches, sql` union `)}) found order by id desc limit ${limit}`.execute(reader);
  return rows;
}

function newestOf(table: 'parse_jobs' | 'analysis_jobs', column: 'session_id' | 'user_id' | null, { q, before }: SessionFilters) {
  const conditions = [noneNewer('parse_jobs'), noneNewer('analysis_jobs')];
  if (column !== null) conditions.push(sql`${sql.ref(`j.${column}`)} = ${q}`);
  if (before !== null) conditions.push(sql`j.id < ${before}::uuid`);
  return sql`(select j.id, j.user_id, j.session_id from ${sql.raw(table)} j where ${sql.join(conditions, sql` and `)} order by j.id desc limit ${sql.lit(SESSIONS_PER_PAGE + 1)})`;
}

function noneNewer(table: 'parse_jobs' | 'analysis_jobs') {
  return sql`not exists (select 1 from ${sql.raw(table)} k where k.session_id = j.session_id and k.user_id = j.user_id and k.id > j.id)`;
}

/** Documents can be linked to a session that never had an upload (resolve-sources). */
async function readLinkedOnly(reader: Reader, q: string): Promise<Key[]> {
  const { rows } = await sql<Key>`
    select distinct s.user_id as "userId", s.session_id as "sessionId", null as newest from session_sources s
    where (s.session_id = ${q} or s.user_id = ${q})
      and not exists (select 1 from parse_jobs j where j.session_id = s.session_id and j.user_id = s.user_id)
      and not exists (select 1 from analysis_jobs a where a.session_id = s.session_id and a.user_id = s.user_id)
    limit ${sql.lit(LINKED_ONLY)}`.execute(reader);
  return rows;
}

async function summarise(reader: Reader, keys: readonly Key[]): Promise<SessionSummary[]> {
  const of = (table: string, condition = '') => sql.raw(`(select count(*)::int from ${table} t where t.session_id = k.session_id and t.user_id = k.user_id ${condition})`);
  const { rows } = await sql<SessionSummary>`
    select k.user_id as "userId", k.session_id as "sessionId", k.newest, ${ms('coalesce(p.created_at, a.created_at)')} as "newestAt",
      ${of('session_sources')} as documents, ${of('parse_jobs', 'and t.finished_at is null')} as "openUploads",
      ${of('analysis_jobs')} as analyses, ${of('analysis_jobs', 'and t.finished_at is null')} as "openAnalyses"
    from unnest(${keys.map((key) => key.userId)}::text[], ${keys.map((key) => key.sessionId)}::text[], ${keys.map((key) => key.newest)}::uuid[])
      with ordinality as k(user_id, session_id, newest, n)
    left join parse_jobs p on p.id = k.newest left join analysis_jobs a on a.id = k.newest
    order by k.n`.execute(reader);
  return rows;
}
