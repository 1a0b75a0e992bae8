import type pg from 'pg';
import { errorCode } from '../db/connection-errors.js';
import { inTransaction } from '../db/connection.js';
import { lockUser } from './admission.js';
import { Problem } from './problem.js';

/** How long to wait for another request of the same user (ms), and for one statement. */
const LOCK_LIMIT_MS = 15_000;
const STATEMENT_LIMIT_MS = 60_000;

/**
 * A transaction in which no other upload, analysis, reset or erasure of this user is decided. `before` runs first, without the lock (replays).
 * Throws a 503 Problem when the others take too long.
 */
export async function withUserLock<T>(pool: pg.Pool, userId: string, fn: (tx: pg.PoolClient) => Promise<T>, before?: (tx: pg.PoolClient) => Promise<T | undefined>): Promise<T> {
  try {
    return await inTransaction(pool, async (tx) => {
      await tx.query(`set local lock_timeout = ${LOCK_LIMIT_MS}`);
      const earlier = await before?.(tx);
      if (earlier !== undefined) return earlier;
      await lockUser(tx, userId);
      return fn(tx);
    }, { timeoutMs: STATEMENT_LIMIT_MS });
  } catch (error) {
    if (errorCode(error) !== '55P03') throw error;
    throw new Problem(503, 'user_busy', 'Other requests of this user are being stored right now. Nothing of this one was; send it again in a few seconds.', { headers: { 'Retry-After': '5' }, cause: error });
  }
}
