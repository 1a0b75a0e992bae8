import { timingSafeEqual } from 'node:crypto';
import DataLoader from 'dataloader';
import type pg from 'pg';
import { limited } from '../db/limited.js';
import type { ApiScope } from '../operations/accounts.js';
import { secretHash } from '../operations/secret.js';
import { Problem } from './problem.js';

export interface ApiCaller {
  tokenId: string;
  name: string;
  scopes: readonly ApiScope[];
}

/** `also` names a row (uuid) of which something is to be read alongside. */
export type Authenticate = (authorization: string | undefined, also?: string) => Promise<{ caller: ApiCaller; alongside: string | null }>;

/** Calls that one statement answers at most. */
const MAX_TOGETHER = 500;

/**
 * Who calls the product API. Throws a 401 Problem for a missing, malformed, unknown, revoked or expired token; one that is revoked stops at once.
 * Only hashes are compared, in constant time. `last_used_at` is written at most once a minute, and its failure is ignored.
 * Calls that arrive together are answered by one statement; nothing is kept from one to the next.
 * A call that is made very often can have a text read alongside, instead of by a statement of its own: `sql` is ours, `asked.also` the row it names.
 */
export function createAuthenticate(pool: pg.Pool, sql = 'null'): Authenticate {
  const tokens = new DataLoader<Asked, TokenRow | undefined>((asked) => readTokens(pool, sql, asked), { cache: false, maxBatchSize: MAX_TOGETHER, batchScheduleFn: setImmediate });
  return async (authorization, also) => {
    const token = /^Bearer +(lb_[\w-]{16,200})$/i.exec(authorization?.trim() ?? '')?.[1];
    if (!token) throw unauthorized('This call carries no API token. Send the header "Authorization: Bearer lb_…"; make a token with: npx leaseboard tokens add NAME');
    const hash = secretHash(token);
    const row = await tokens.load({ hash, also });
    if (!row || !timingSafeEqual(row.token_sha256, hash)) throw unauthorized('This API token is not known here. Check that it was copied whole, or make one with: npx leaseboard tokens add NAME');
    if (row.revoked) throw unauthorized('This API token was revoked. Make a new one with: npx leaseboard tokens add NAME');
    if (row.expired) throw unauthorized('This API token has expired. Revoke it and make a new one with: npx leaseboard tokens add NAME');
    if (row.unseen) await noteUsed(pool, row.id);
    return { caller: { tokenId: row.id, name: row.name, scopes: row.scopes }, alongside: row.alongside };
  };
}

interface Asked {
  hash: Buffer;
  also: string | undefined;
}

interface TokenRow {
  place: number;
  id: string;
  name: string;
  scopes: ApiScope[];
  token_sha256: Buffer;
  revoked: boolean;
  expired: boolean;
  unseen: boolean;
  alongside: string | null;
}

async function readTokens(pool: pg.Pool, sql: string, asked: readonly Asked[]): Promise<(TokenRow | undefined)[]> {
  const { rows } = await pool.query<TokenRow>(limited(
    `select asked.place::int, t.id, t.name, t.scopes, t.token_sha256, t.revoked_at is not null as revoked, coalesce(t.expires_at <= now(), false) as expired,
            coalesce(t.last_used_at < now() - interval '1 minute', true) as unseen, (${sql}) as alongside
       from unnest($1::bytea[], $2::uuid[]) with ordinality as asked (token_sha256, also, place) join api_tokens t on t.token_sha256 = asked.token_sha256`,
    [asked.map(({ hash }) => hash), asked.map(({ also }) => also ?? null)],
  ));
  const found = new Map(rows.map((row) => [row.place, row]));
  return asked.map((_, index) => found.get(index + 1));
}

/** What a call needs: acting in place of a person and erasing a user have scopes of their own, reading is GET, everything else is writing. `path` is below /api. */
export function scopeOf(method: string, path: string): ApiScope {
  if (/^\/operations(\/|$)/i.test(path)) return 'act:operator';
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return 'api:read';
  return /^\/users(\/|$)/i.test(path) ? 'api:erase' : 'api:write';
}

/** Throws a 403 Problem `insufficient_scope` (RFC 6750, 3.1) unless the token was made for this. */
export function requireScope(caller: ApiCaller, scope: ApiScope): void {
  if (caller.scopes.includes(scope) || (scope === 'act:operator' && caller.scopes.includes('act:admin'))) return;
  throw new Problem(403, 'insufficient_scope', `The token ${caller.name} may do ${caller.scopes.join(', ')}; this call needs ${scope}. Nothing was changed. Make a token with it: npx leaseboard tokens add NAME --scope ${scope}`, {
    headers: { 'WWW-Authenticate': `Bearer realm="leaseboard", error="insufficient_scope", scope="${scope}"` }, extra: { scope },
  });
}

function unauthorized(detail: string): Problem {
  return new Problem(401, 'unauthorized', detail, { headers: { 'WWW-Authenticate': 'Bearer realm="leaseboard"' } });
}

async function noteUsed(pool: pg.Pool, id: string): Promise<void> {
  await pool
    .query(limited(`update api_tokens set last_used_at = now() where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`, [id]))
    .catch(() => undefined);
}
