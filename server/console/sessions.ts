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
  /** More sessions that only have linked documents fit than are listed. */
  cut: boolean;
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
    const { keys: active, next } = await readActive(reader, filters);
    const linked = next !== null || filters.q === null ? [] : await readLinkedOnly(reader, filters.q);
    return { ...stamp, sessions: await summarise(reader, [...active, ...linked.slice(0, LINKED_ONLY)]), next, cut: linked.length > LINKED_ONLY };
  });
}

type Key = Pick<SessionSummary, 'userId' | 'sessionId' | 'newest'>;

/** Jobs of the first step, and what it grows by: most sessions have a few, some have hundreds. */
const WALKED = 500;
const GROWTH = 4;
/** Then the page ends with what it has, and the next one goes on from there. */
const STEPS = 3;

interface Step {
  found: Key[];
  /** The last job looked at; null at the end of the history. */
  last: string | null;
}

/**
 * Walks uploads and analyses newest first, in steps, and keeps the newest of each session. Only that one is asked whether the session has a
 * newer job on an earlier page: asking every job cost half a second from the middle of a long history.
 */
async function readActive(reader: Reader, { q, before }: SessionFilters): Promise<{ keys: Key[]; next: string | null }> {
  const keys: Key[] = [];
  let cursor = before;
  for (let step = 0, size = WALKED; step < STEPS; step += 1, size *= GROWTH) {
    const { found, last } = await walk(reader, q, cursor, size);
    keys.push(...found);
    if (keys.length > SESSIONS_PER_PAGE) return { keys: keys.slice(0, SESSIONS_PER_PAGE), next: keys[SESSIONS_PER_PAGE - 1]!.newest };
    if (last === null) return { keys, next: null };
    cursor = last;
  }
  return { keys, next: cursor };
}

/** One index range a branch: an OR over session and user would walk the whole history for an id that is rarely there. */
async function walk(reader: Reader, q: string | null, cursor: string | null, size: number): Promise<Step> {
  const columns = q === null ? [null] : (['session_id', 'user_id'] as const);
  const branches = columns.flatMap((column) => (['parse_jobs', 'analysis_jobs'] as const).map((table) => jobsOf(table, column, q, cursor, size)));
  const unseen = cursor === null ? sql`true` : sql.join([noneSince('parse_jobs', cursor), noneSince('analysis_jobs', cursor)], sql` and `);
  const { rows } = await sql<Key & { unseen: boolean; walked: number; last: string }>`
    with walked as materialized (select id, user_id, session_id from (${sql.join(branches, sql` union `)}) jobs order by id desc limit ${sql.lit(size)}),
      sessions as materialized (select distinct on (user_id, session_id) user_id, session_id, id from walked order by user_id, session_id, id desc)
    select j.user_id as "userId", j.session_id as "sessionId", j.id as newest, ${unseen} as unseen,
      (select count(*)::int from walked) as walked, (select id from walked order by id limit 1) as last
    from sessions j order by j.id desc`.execute(reader);
  const first = rows[0];
  return {
    found: rows.filter((row) => row.unseen).map(({ userId, sessionId, newest }) => ({ userId, sessionId, newest })),
    last: first && first.walked === size ? first.last : null,
  };
}

function jobsOf(table: 'parse_jobs' | 'analysis_jobs', column: 'session_id' | 'user_id' | null, q: string | null, cursor: string | null, size: number) {
  const conditions = [sql`true`];
  if (column !== null) conditions.push(sql`${sql.ref(`r.${column}`)} = ${q}`);
  if (cursor !== null) conditions.push(sql`r.id < ${cursor}::uuid`);
  return sql`(select r.id, r.user_id, r.session_id from ${sql.raw(table)} r where ${sql.join(conditions, sql` and `)} order by r.id desc limit ${sql.lit(size)})`;
}

function noneSince(table: 'parse_jobs' | 'analysis_jobs', cursor: string) {
  return sql`not exists (select 1 from ${sql.raw(table)} k where k.session_id = j.session_id and k.user_id = j.user_id and k.id >= ${cursor}::uuid)`;
}

/** Documents can be linked to a session that never had an upload (resolve-sources). */
async function readLinkedOnly(reader: Reader, q: string): Promise<Key[]> {
  const { rows } = await sql<Key>`
    select distinct s.user_id as "userId", s.session_id as "sessionId", null as newest from session_sources s
    where (s.session_id = ${q} or s.user_id = ${q})
      and not exists (select 1 from parse_jobs j where j.session_id = s.session_id and j.user_id = s.user_id)
      and not exists (select 1 from analysis_jobs a where a.session_id = s.session_id and a.user_id = s.user_id)
    limit ${sql.lit(LINKED_ONLY + 1)}`.execute(reader);
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
