/**
 * Brings the schema to the newest migration. Forward only. All DDL, bookkeeping included, runs on one direct connection that holds one
 * session advisory lock, so any number of processes may boot at once. Crash behaviour: the server frees the lock with the session; an
 * ordinary migration is undone whole, a concurrent one is found half done and repaired by whoever runs it next.
 * Migrations in the database that this code does not know belong to a newer version and are left alone (expand, then contract).
 */
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../log.js';
import { connectionConfig } from './connection.js';
import { errorCode, isConnectionError } from './connection-errors.js';
import { refusePooler, requireUtf8 } from './migration-checks.js';
import { readMigrations, type Migration } from './migration-files.js';
import { takeMigrationLock } from './migration-lock.js';
import { runConcurrently } from './migration-concurrent.js';
import { MigrationError } from './migration-error.js';

export type MigrateOptions = {
  /** Never through a transaction pooler. */
  directUrl: string;
  migrationsDir: string;
  log: Logger;
  /** For the database to answer, and for the migration lock to come free (ms). */
  deadlineMs?: number;
  applicationName?: string;
};

const DEADLINE_MS = 60_000;
/** One wait for a table's lock (ms): longer, and the queries that queue up behind ours would stall. */
const LOCK_TIMEOUT_MS = 3000;
const LOCK_TRIES = 20;
/** While the database is waited for, it is said so often (ms). */
const TELL_AGAIN_MS = 10_000;

/** Applies what is missing and answers the names it applied. Throws `MigrationError` with a stable `code`. */
export async function migrate(options: MigrateOptions): Promise<{ applied: string[] }> {
  const deadline = performance.now() + (options.deadlineMs ?? DEADLINE_MS);
  const migrations = readMigrations(options.migrationsDir);
  const client = await connect(options, deadline);
  try {
    await requireUtf8(client);
    await refusePooler(client, () => connect(options, deadline));
    await takeMigrationLock(client, { deadline, log: options.log });
    return { applied: await applyMissing(client, migrations, options.log) };
  } finally {
    await client.end().catch(() => {});
  }
}

/** The newest applied migration; null before the first. */
export async function schemaVersion(pool: pg.Pool): Promise<string | null> {
  try {
    const { rows } = await pool.query<{ name: string }>('select name from schema_migrations order by name desc limit 1');
    return rows[0]?.name ?? null;
  } catch (error) {
    if (errorCode(error) === '42P01') return null;
    throw error;
  }
}

/** The migrations of this code that the database does not have yet. */
export async function pendingMigrations(pool: pg.Pool, migrationsDir: string): Promise<string[]> {
  const names = readMigrations(migrationsDir).map(migration => migration.name);
  if (await schemaVersion(pool) === null) return names;
  const { rows } = await pool.query<{ name: string }>('select name from schema_migrations');
  return names.filter(name => !rows.some(row => row.name === name));
}

/** Where migrations lie, from the project's root. */
export function migrationsIn(projectRoot: string): string {
  return path.join(projectRoot, 'sql', 'migrations');
}

/** Accepts no connections for now (a restore, a rename): here it can only be the answer to ours. */
const NOT_NOW = '55000';

/** A database that does not answer, or accepts nobody for now, is waited for until the deadline; one that turns us away is not. */
async function connect(options: MigrateOptions, deadline: number): Promise<pg.Client> {
  for (let tellAt = 0; ;) {
    const client = new pg.Client(connectionConfig(options.directUrl, { applicationName: options.applicationName ?? 'leaseboard migrate' }));
    client.on('error', error => options.log.warn({ event: 'migration_connection_lost', error }, 'The migration connection was lost'));
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if (performance.now() > deadline || !(isConnectionError(error) || errorCode(error) === NOT_NOW)) throw unreachable(options.directUrl, error);
      if (performance.now() > tellAt) {
        options.log.warn({ event: 'database_away', code: errorCode(error) }, 'The database does not answer or accepts no connections yet; trying again');
        tellAt = performance.now() + TELL_AGAIN_MS;
      }
      await pause(500);
    }
  }
}

/** Which database, why not, and what to do; without the password. An error that is nobody's answer is passed on as it is. */
function unreachable(url: string, error: unknown): unknown {
  const away = isConnectionError(error);
  if (!away && !(error instanceof pg.DatabaseError)) return error;
  const { host, pathname } = new URL(url);
  const reason = (error as Error).message || errorCode(error);
  return new MigrationError(away ? 'database_away' : 'database_refused', `The database ${pathname.slice(1)} at ${host || 'this machine'} ${away ? 'does not answer' : 'refuses the connection'}: ${reason}. Check DATABASE_URL (and DATABASE_DIRECT_URL, where it is set), then start again.`, error);
}

async function applyMissing(client: pg.Client, migrations: Migration[], log: Logger): Promise<string[]> {
  await client.query(`create table if not exists schema_migrations (
    name text primary key, checksum text not null, applied_at timestamptz not null default now())`);
  const { rows } = await client.query<{ name: string, checksum: string }>('select name, checksum from schema_migrations order by name');
  const known = new Map(migrations.map(migration => [migration.name, migration]));
  const newer = rows.filter(row => !known.has(row.name)).map(row => row.name);
  if (newer.length > 0) log.warn({ event: 'schema_newer', migrations: newer }, 'The database is newer than this version; its further migrations are left alone');
  for (const row of rows) refuseChanged(known.get(row.name), row.checksum);
  const missing = migrations.filter(migration => !rows.some(row => row.name === migration.name));
  for (const migration of missing) await applyOne(client, migration, log);
  return missing.map(migration => migration.name);
}

function refuseChanged(migration: Migration | undefined, applied: string): void {
  if (!migration || migration.checksum === applied) return;
  throw new MigrationError('migration_changed', `sql/migrations/${migration.name} was changed after it was applied (checksum ${migration.checksum.slice(0, 12)}, applied ${applied.slice(0, 12)}). Restore the file and put the change into a new migration.`);
}

async function applyOne(client: pg.Client, migration: Migration, log: Logger): Promise<void> {
  const from = performance.now();
  if (migration.concurrently) await runConcurrently(client, migration, log);
  else await runInTransaction(client, migration, log);
  log.info({ event: 'migration_applied', migration: migration.name, tookMs: Math.round(performance.now() - from) }, `Applied ${migration.name}`);
}

/** `lock_timeout` with retries: a long transaction delays the migration, it does not make everybody queue behind it. */
async function runInTransaction(client: pg.Client, migration: Migration, log: Logger): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await client.query(migration.sql);
      await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [migration.name, migration.checksum]);
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback').catch(() => {});
      if (!['55P03', '40P01'].includes(errorCode(error)) || tried >= LOCK_TRIES) throw failed(migration, error);
      log.warn({ event: 'migration_waits', migration: migration.name, tried }, 'A table is locked by someone else; the migration tries again');
      await pause(250 + Math.random() * 500);
    }
  }
}

function failed(migration: Migration, error: unknown): MigrationError {
  const reason = error instanceof Error ? error.message : String(error);
  return new MigrationError('migration_failed', `Migration ${migration.name} failed and was undone: ${reason}`, error);
}
