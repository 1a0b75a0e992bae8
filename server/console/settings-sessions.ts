import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { cleanText } from '../db/text.js';
import { isUuid } from './queue-filters.js';
import { ms, readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';
import { OPEN_SESSION } from './settings-people.js';

export interface SessionListFilters {
  /** A part of the person's name. */
  q: string | null;
  show: 'open' | 'all';
  /** Keyset cursor: the last session of the page before. */
  before: string | null;
}

/** A signed-in browser. Instants in ms since 1970. */
export interface SignedInSession {
  id: string;
  operatorId: string;
  name: string;
  via: 'link' | 'password' | 'oidc';
  userAgent: string | null;
  createdAt: number;
  lastSeenAt: number;
  /** When it ends by itself if it is not used again. */
  endsAt: number;
  /** Null while it is open. */
  ended: 'signed out' | 'expired' | 'idle' | null;
}

export interface SessionListPage extends Stamp {
  sessions: SignedInSession[];
  next: string | null;
}

export const SIGNED_IN_PER_PAGE = 50;

export function parseSessionListFilters(query: URLSearchParams): SessionListFilters {
  const before = query.get('before')?.toLowerCase() ?? '';
  return {
    q: cleanText(query.get('q')?.trim() ?? '').slice(0, 200) || null,
    show: query.get('show') === 'all' ? 'all' : 'open',
    before: isUuid(before) ? before : null,
  };
}

/** Newest first; of one person, or of everybody (`operatorId` null). Own read-only transaction. @throws ReadTimeoutError */
export function readSignedIn(kysely: Kysely<DB>, operatorId: string | null, { q, show, before }: SessionListFilters): Promise<SessionListPage> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const conditions = [sql`true`];
    if (operatorId !== null) conditions.push(sql`s.operator_id = ${operatorId}`);
    if (q !== null) conditions.push(sql`strpos(lower(o.name), lower(${q})) > 0`);
    if (show === 'open') conditions.push(sql.raw(`${OPEN_SESSION} and o.disabled_at is null`));
    if (before !== null) conditions.push(sql`(s.created_at, s.id) < (select created_at, id from operator_sessions where id = ${before})`);
    const { rows } = await sql<SignedInSession>`
      select s.id, s.operator_id as "operatorId", o.name, s.via, s.user_agent as "userAgent", ${ms('s.created_at')} as "createdAt", ${ms('s.last_seen_at')} as "lastSeenAt",
        ${ms(`least(s.expires_at, s.last_seen_at + interval '12 hours')`)} as "endsAt",
        case when s.revoked_at is not null or o.disabled_at is not null then 'signed out' when s.expires_at <= now() then 'expired'
             when s.last_seen_at <= now() - interval '12 hours' then 'idle' end as ended
      from operator_sessions s join operators o on o.id = s.operator_id
      where ${sql.join(conditions, sql` and `)} order by s.created_at desc, s.id desc limit ${sql.lit(SIGNED_IN_PER_PAGE + 1)}`.execute(reader);
    const sessions = rows.slice(0, SIGNED_IN_PER_PAGE);
    return { ...stamp, sessions, next: rows.length > SIGNED_IN_PER_PAGE ? sessions.at(-1)!.id : null };
  });
}
