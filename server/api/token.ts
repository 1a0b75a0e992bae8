import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { limited } from '../db/limited.js';
import { secretHash } from '../operations/secret.js';
import { Problem } from './problem.js';

export interface ApiCaller {
  tokenId: string;
  name: string;
}

/**
 * Who calls the product API. Throws a 401 Problem for a missing, malformed, unknown or revoked token; a revoked token stops at once.
 * Only hashes are compared, in constant time. `last_used_at` is written at most once a minute, and its failure is ignored.
 */
export async function authenticate(pool: pg.Pool, authorization: string | undefined): Promise<ApiCaller> {
  const token = /^Bearer +(lb_[\w-]{16,200})$/i.exec(authorization?.trim() ?? '')?.[1];
  if (!token) throw unauthorized('This call carries no API token. Send the header "Authorization: Bearer lb_…"; make a token with: npx leaseboard tokens add NAME');
  const hash = secretHash(token);
  const { rows } = await pool.query<{ id: string; name: string; token_sha256: Buffer; revoked: boolean; unseen: boolean }>(limited(
    `select id, name, token_sha256, revoked_at is not null as revoked,
            coalesce(last_used_at < now() - interval '1 minute', true) as unseen
       from api_tokens where token_sha256 = $1`,
    [hash],
  ));
  const row = rows[0];
  if (!row || !timingSafeEqual(row.token_sha256, hash)) throw unauthorized('This API token is not known here. Check that it was copied whole, or make one with: npx leaseboard tokens add NAME');
  if (row.revoked) throw unauthorized('This API token was revoked. Make a new one with: npx leaseboard tokens add NAME');
  if (row.unseen) await noteUsed(pool, row.id);
  return { tokenId: row.id, name: row.name };
}

function unauthorized(detail: string): Problem {
  return new Problem(401, 'unauthorized', detail, { headers: { 'WWW-Authenticate': 'Bearer realm="leaseboard"' } });
}

async function noteUsed(pool: pg.Pool, id: string): Promise<void> {
  await pool
    .query(limited(`update api_tokens set last_used_at = now() where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`, [id]))
    .catch(() => undefined);
}
