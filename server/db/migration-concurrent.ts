/**
 * Migrations that cannot run in a transaction (CREATE INDEX CONCURRENTLY). A crash or a failure in the middle leaves an INVALID index,
 * which IF NOT EXISTS would keep for ever: so a remnant is dropped first and the result is checked before the migration counts as applied.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../log.js';
import { errorCode } from './connection-errors.js';
import { MigrationError } from './migration-error.js';
import { statementsOf, type Migration } from './migration-files.js';

/** It waits for every older transaction, some of which are reports (ms). */
const LOCK_TIMEOUT_MS = 30_000;
const TRIES = 10;

const createIndex = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?("?[\w.]+"?)\s+on\b/i;

/** Runs the statements one by one and records the migration. Every statement must be one that may run again. */
export async function runConcurrently(client: pg.Client, migration: Migration, log: Logger): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    for (const statement of statementsOf(migration)) await withRetries(client, migration, statement, log);
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [migration.name, migration.checksum]);
  } finally {
    await client.query('reset lock_timeout').catch(() => {});
  }
}

async function withRetries(client: pg.Client, migration: Migration, statement: string, log: Logger): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await runStatement(client, migration, statement, log);
    } catch (error) {
      if (!['55P03', '40P01'].includes(errorCode(error)) || tried >= TRIES) throw error;
      log.warn({ event: 'migration_waits', migration: migration.name, tried }, 'An older transaction is in the way; the migration tries again');
      await pause(250 + Math.random() * 500);
    }
  }
}

async function runStatement(client: pg.Client, migration: Migration, statement: string, log: Logger): Promise<void> {
  const index = createIndex.exec(statement)?.[1];
  if (!index) {
    await client.query(statement);
    return;
  }
  const before = await validityOf(client, index);
  if (before === true) return;
  if (before === false) {
    log.warn({ event: 'invalid_index_dropped', migration: migration.name, index }, 'An earlier attempt left an invalid index; it is built again');
    await client.query(`drop index concurrently if exists ${index}`);
  }
  await client.query(statement);
  if (await validityOf(client, index) !== true) throw new MigrationError('migration_failed', `${migration.name}: the index ${index} was built but is not valid. Start again; it will be dropped and built anew.`);
}

/** Undefined when there is no such index. */
async function validityOf(client: pg.Client, index: string): Promise<boolean | undefined> {
  const { rows } = await client.query<{ indisvalid: boolean }>('select indisvalid from pg_index where indexrelid = to_regclass($1)', [index]);
  return rows[0]?.indisvalid;
}
