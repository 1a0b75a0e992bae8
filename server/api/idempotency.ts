/**
 * Answers kept for 24 hours per token and path, so that a client that never heard our answer may ask again. The answer is stored in the
 * transaction that does the work: either both exist or neither. Only successes are kept; a refusal may be tried again with the same key.
 */
import type pg from 'pg';
import { Problem } from './problem.js';

export interface IdempotentRequest {
  tokenId: string;
  path: string;
  key: string;
  bodySha256: Buffer;
}

export interface StoredAnswer {
  status: number;
  response: unknown;
}

const KEPT = `interval '24 hours'`;

/** The Idempotency-Key header, or undefined. Throws a 400 Problem for one that cannot be a key. */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (/^[\x21-\x7e]{1,200}$/.test(header)) return header;
  throw new Problem(400, 'invalid_idempotency_key', 'The Idempotency-Key must be 1 to 200 visible ASCII characters without spaces, such as a UUID. Send the request again with such a key, or without one.');
}

/**
 * Inside the working transaction, first of all: waits for a request with the same key that is still under way, then gives its answer.
 * Undefined: do the work and call keepAnswer. Throws 422 when the key was used for another body.
 */
export async function earlierAnswer(tx: pg.PoolClient, request: IdempotentRequest): Promise<StoredAnswer | undefined> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', [JSON.stringify([request.tokenId, request.path, request.key])]);
  const { rows } = await tx.query<{ same: boolean; status: number; response: unknown }>(
    `select body_sha256 = $4 as same, status, response from idempotency_keys
      where token_id = $1 and path = $2 and key = $3 and created_at > now() - ${KEPT}`,
    [request.tokenId, request.path, request.key, request.bodySha256],
  );
  const earlier = rows[0];
  if (earlier && !earlier.same) {
    throw new Problem(422, 'idempotency_mismatch', 'This Idempotency-Key was used within the last 24 hours for a different request. Nothing was stored; use a new key for a new request, and the same key only to repeat the same one.');
  }
  return earlier;
}

/** Inside the same transaction, after the work: keeps the answer and clears up to twenty that are too old. */
export async function keepAnswer(tx: pg.PoolClient, request: IdempotentRequest, answer: StoredAnswer): Promise<void> {
  await tx.query(
    `insert into idempotency_keys (token_id, path, key, body_sha256, status, response) values ($1, $2, $3, $4, $5, $6)
     on conflict (token_id, path, key) do update
       set body_sha256 = excluded.body_sha256, status = excluded.status, response = excluded.response, created_at = now()`,
    [request.tokenId, request.path, request.key, request.bodySha256, answer.status, JSON.stringify(answer.response)],
  );
  await tx.query(
    `delete from idempotency_keys where ctid in (
       select ctid from idempotency_keys where created_at <= now() - ${KEPT} order by created_at limit 20 for update skip locked)`,
  );
}
