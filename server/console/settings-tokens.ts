import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import { cleanText } from '../db/text.js';
import { isUuid } from './queue-filters.js';
import { ms, readOnly, readStamp } from './read.js';
import type { Stamp } from './row-view.js';

export interface TokenFilters {
  /** A part of the name. */
  q: string | null;
  show: 'live' | 'all';
  /** Keyset cursor: the last token of the page before. */
  before: string | null;
}

/** Instants in ms since 1970. */
export interface ApiTokenSummary {
  id: string;
  name: string;
  scopes: string[];
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  expired: boolean;
}

export interface TokensPage extends Stamp {
  tokens: ApiTokenSummary[];
  next: string | null;
}

const TOKENS_PER_PAGE = 50;

export function parseTokenFilters(query: URLSearchParams): TokenFilters {
  const before = query.get('before')?.toLowerCase() ?? '';
  return {
    q: cleanText(query.get('q')?.trim() ?? '').slice(0, 200) || null,
    show: query.get('show') === 'all' ? 'all' : 'live',
    before: isUuid(before) ? before : null,
  };
}

/** Newest first (ids are UUIDv7). Own read-only transaction. @throws ReadTimeoutError */
export function readTokens(kysely: Kysely<DB>, { q, show, before }: TokenFilters): Promise<TokensPage> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const conditions = [sql`true`];
    if (q !== null) conditions.push(sql`strpos(lower(t.name), lower(${q})) > 0`);
    if (show === 'live') conditions.push(sql`t.revoked_at is null`);
    if (before !== null) conditions.push(sql`t.id < ${before}`);
    const { rows } = await sql<ApiTokenSummary>`
      select t.id, t.name, t.scopes, ${ms('t.created_at')} as "createdAt", ${ms('t.last_used_at')} as "lastUsedAt", ${ms('t.expires_at')} as "expiresAt",
        ${ms('t.revoked_at')} as "revokedAt", coalesce(t.expires_at <= now(), false) as expired
      from api_tokens t where ${sql.join(conditions, sql` and `)} order by t.id desc limit ${sql.lit(TOKENS_PER_PAGE + 1)}`.execute(reader);
    const tokens = rows.slice(0, TOKENS_PER_PAGE);
    return { ...stamp, tokens, next: rows.length > TOKENS_PER_PAGE ? tokens.at(-1)!.id : null };
  });
}
