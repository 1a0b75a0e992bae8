/**
 * A transaction on a pooled connection. Crash behaviour: a process that dies or freezes inside is rolled back by the server, after
 * ten seconds of idling at the latest, so that it cannot keep the sweep's lock or a row. An error of the connection destroys it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { isConnectionError, isRetryable } from './connection-errors.js';

const IDLE_LIMIT_MS = 10_000;
/** Deadlocks and serialization failures are tried again this often in all. */
const MAX_TRIES = 5;

/**
 * Runs `fn` in a transaction and commits it; rolls back when it throws. `fn` may run up to five times (40P01, 40001): it must have no
 * effect outside the transaction. `timeoutMs` bounds each statement. A commit that the server turned into a rollback throws.
 */
export async function inTransaction<T>(pool: pg.Pool, fn: (tx: pg.PoolClient) => Promise<T>, options: { timeoutMs?: number } = {}): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await runOnce(pool, fn, options.timeoutMs);
    } catch (error) {
      if (!isRetryable(error) || tried >= MAX_TRIES) throw error;
      await pause(Math.random() * 20 * 2 ** tried);
    }
  }
}

async function runOnce<T>(pool: pg.Pool, fn: (tx: pg.PoolClient) => Promise<T>, timeoutMs: number | undefined): Promise<T> {
  const tx = await pool.connect();
  let broken = false;
  try {
    await tx.query(beginStatement(timeoutMs));
    const result = await fn(tx);
    const end = await tx.query('commit');
    if (end.command !== 'COMMIT') throw new Error('The transaction had failed before its commit; nothing was written');
    return result;
  } catch (error) {
    broken = isConnectionError(error) || !(await rolledBack(tx));
    throw error;
  } finally {
    tx.release(broken);
  }
}

function beginStatement(timeoutMs: number | undefined): string {
  const statementLimit = timeoutMs === undefined ? '' : `; set local statement_timeout = ${Math.ceil(timeoutMs)}`;
  return `begin; set local idle_in_transaction_session_timeout = ${IDLE_LIMIT_MS}${statementLimit}`;
}

async function rolledBack(tx: pg.PoolClient): Promise<boolean> {
  return tx.query('rollback').then(() => true, () => false);
}
