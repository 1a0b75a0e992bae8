import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { cleanText } from '../db/text.js';
import { isUuid } from './queue-filters.js';
import { ms, readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';

const roles = ['viewer', 'operator', 'admin'] as const;
export type PersonRole = (typeof roles)[number];

/** What the list of people shows. All of it lives in the URL. */
export interface PeopleFilters {
  /** A part of the name. */
  q: string | null;
  role: PersonRole | null;
  state: 'enabled' | 'disabled' | null;
  /** Keyset cursor: the last person of the page before. */
  after: string | null;
}

/** Instants in ms since 1970. */
export interface Person {
  id: string;
  name: string;
  role: PersonRole;
  createdAt: number;
  disabledAt: number | null;
  /** How they can sign in besides a link. */
  signsIn: 'password' | 'provider' | 'link';
  openSessions: number;
  lastSeenAt: number | null;
  openLinks: number;
}

export interface PeoplePage extends Stamp {
  people: Person[];
  next: string | null;
  /** Enabled admins, of whom one must stay. */
  admins: number;
}

export interface OpenLink {
  id: string;
  name: string;
  createdAt: number;
  expiresAt: number;
  createdBy: string | null;
}

export const PEOPLE_PER_PAGE = 50;
/** More open links than this are not looked through one by one; each dies within a day. */
const LINKS_SHOWN = 100;

export function parsePeopleFilters(query: URLSearchParams): PeopleFilters {
  const after = query.get('after')?.toLowerCase() ?? '';
  const state = query.get('state');
  return {
    q: cleanText(query.get('q')?.trim() ?? '').slice(0, 200) || null,
    role: roles.find((role) => role === query.get('role')) ?? null,
    state: state === 'enabled' || state === 'disabled' ? state : null,
    after: isUuid(after) ? after : null,
  };
}

/** People by name. Own read-only transaction. @throws ReadTimeoutError */
export function readPeople(kysely: Kysely<DB>, { q, role, state, after }: PeopleFilters): Promise<PeoplePage> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const conditions = [sql`true`];
    if (q !== null) conditions.push(sql`strpos(lower(o.name), lower(${q})) > 0`);
    if (role !== null) conditions.push(sql`o.role = ${role}`);
    if (state !== null) conditions.push(state === 'enabled' ? sql`o.disabled_at is null` : sql`o.disabled_at is not null`);
    if (after !== null) conditions.push(sql`lower(o.name) > (select lower(name) from operators where id = ${after})`);
    const { rows } = await sql<Person>`
      select o.id, o.name, o.role, ${ms('o.created_at')} as "createdAt", ${ms('o.disabled_at')} as "disabledAt",
        case when o.oidc_issuer is not null then 'provider' when o.password_hash is not null then 'password' else 'link' end as "signsIn",
        (select count(*)::int from operator_sessions s where s.operator_id = o.id and ${sql.raw(OPEN_SESSION)}) as "openSessions",
        (select ${ms('max(s.last_seen_at)')} from operator_sessions s where s.operator_id = o.id) as "lastSeenAt",
        (select count(*)::int from signin_links l where l.operator_id = o.id and ${sql.raw(OPEN_LINK)}) as "openLinks"
      from operators o where ${sql.join(conditions, sql` and `)} order by lower(o.name) limit ${sql.lit(PEOPLE_PER_PAGE + 1)}`.execute(reader);
    const admins = await sql<{ n: number }>`select count(*)::int as n from operators where role = 'admin' and disabled_at is null`.execute(reader);
    const people = rows.slice(0, PEOPLE_PER_PAGE);
    return { ...stamp, people, next: rows.length > PEOPLE_PER_PAGE ? people.at(-1)!.id : null, admins: admins.rows[0]!.n };
  });
}

/** Of a session `s`: the door would let it in (server/http/principal.ts). */
export const OPEN_SESSION = `s.revoked_at is null and s.expires_at > now() and s.last_seen_at > now() - interval '12 hours'`;
/** Of a link `l`: somebody could still use it. */
const OPEN_LINK = 'l.used_at is null and l.revoked_at is null and l.expires_at > now()';

/** One-time links that still work, the newest first. Own read-only transaction. @throws ReadTimeoutError */
export function readOpenLinks(kysely: Kysely<DB>): Promise<{ links: OpenLink[]; more: boolean }> {
  return readOnly(kysely, async (reader) => {
    const { rows } = await sql<OpenLink>`
      select l.id, o.name, ${ms('l.created_at')} as "createdAt", ${ms('l.expires_at')} as "expiresAt", l.created_by as "createdBy"
      from signin_links l join operators o on o.id = l.operator_id where ${sql.raw(OPEN_LINK)} order by l.created_at desc, l.id limit ${sql.lit(LINKS_SHOWN + 1)}`.execute(reader);
    return { links: rows.slice(0, LINKS_SHOWN), more: rows.length > LINKS_SHOWN };
  });
}
