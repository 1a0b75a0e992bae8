import type pg from 'pg';

/** A small read or write by key takes a millisecond; one that takes this long (ms) waits for a lock or a sick server. */
const LIMIT_MS = 5_000;
/** What pg says when the limit is reached. */
const LIMIT_REACHED = 'Query read timeout';

/**
 * A single statement for `pool.query` that rejects when it has no answer within `limitMs`; the pool then destroys its connection, so that
 * a stuck server never eats up the pool. Not for transactions (SET LOCAL statement_timeout). Needs no round trip of its own.
 */
export function limited(text: string, values: unknown[] = [], limitMs = LIMIT_MS): pg.QueryConfig {
  return { text, values, query_timeout: limitMs } as pg.QueryConfig;
}

/** True for the rejection of a limited statement whose time ran out. Whether it took effect is not known. */
export function isLimitReached(error: unknown): boolean {
  return error instanceof Error && error.message === LIMIT_REACHED;
}
