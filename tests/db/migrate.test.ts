import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate, pendingMigrations, schemaVersion } from '../../server/db/migrate.js';
import { readMigrations } from '../../server/db/migration-files.js';
import { createLogger } from '../../server/log.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';
import { startTransactionPooler } from '../support/transaction-pooler.js';
import { until } from '../support/until.js';

const log = createLogger({ level: 'silent', name: 'test' });
const realMigrations = path.resolve(import.meta.dirname, '../../sql/migrations');
const rounds = 20;

const bigTable = 'create table big (n int, m int);\ninsert into big select n, n % 1000 from generate_series(1, 20000) n;\n';
const bigIndex = '-- concurrently\ncreate index concurrently if not exists big_by_m on big (m);\n';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-migrations-'));
  return () => fs.rmSync(folder, { recursive: true, force: true });
});

function write(files: Record<string, string>): void {
  for (const [name, sql] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), sql);
}

const run = (database: TestDatabase, migrationsDir = folder) => migrate({ directUrl: database.url, migrationsDir, log });

async function indexes(database: TestDatabase): Promise<{ name: string; valid: boolean }[]> {
  const { rows } = await database.pool.query(`select indexrelid::regclass::text as name, indisvalid as valid from pg_index where indrelid = 'big'::regclass`);
  return rows;
}

describe('two processes that boot at once', () => {
  let processes: ChildProcess[];
  beforeAll(async () => {
    processes = [1, 2].map(() => fork(path.resolve(import.meta.dirname, '../support/migrating-process.mjs'), { execArgv: [] }));
    await Promise.all(processes.map(one => once(one, 'message')));
  });
  afterAll(() => processes.forEach(one => one.disconnect()));

  async function bootBoth(database: TestDatabase, migrationsDir: string): Promise<string[]> {
    const answers = await Promise.all(processes.map(async one => {
      one.send({ directUrl: database.url, migrationsDir });
      return (await once(one, 'message'))[0] as { applied?: string[]; error?: string };
    }));
    expect(answers.map(answer => answer.error)).toEqual([undefined, undefined]);
    return answers.flatMap(answer => answer.applied ?? []);
  }

  it('apply each migration once, on an empty database and on an older schema with an index built concurrently, twenty times', async () => {
    const names = readMigrations(realMigrations).map(migration => migration.name);
    for (let round = 0; round < rounds; round++) {
      const database = await testDatabase({ template: false });
      expect((await bootBoth(database, realMigrations)).sort()).toEqual(names);
      fs.cpSync(realMigrations, folder, { recursive: true });
      for (const newer of ['9001_big_index.sql', '9002_after.sql']) fs.rmSync(path.join(folder, newer), { force: true });
      write({ '9000_big_table.sql': bigTable });
      await run(database);
      write({ '9001_big_index.sql': bigIndex, '9002_after.sql': 'create table after (n int);\n' });
      expect((await bootBoth(database, folder)).sort()).toEqual(['9001_big_index.sql', '9002_after.sql']);
      expect(await indexes(database)).toEqual([{ name: 'big_by_m', valid: true }]);
      await database.drop();
    }
  }, 240_000);
});

describe('a migration', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await testDatabase({ template: false });
    return () => database.drop();
  });

  it('is applied whole or not at all', async () => {
    write({ '0001_broken.sql': 'create table half (n int);\nselect 1/0;\n' });
    await expect(run(database)).rejects.toMatchObject({ code: 'migration_failed', message: expect.stringContaining('division by zero') });
    expect((await database.pool.query(`select to_regclass('half') as half`)).rows[0].half).toBeNull();
    write({ '0001_broken.sql': 'create table half (n int);\n' });
    expect(await run(database)).toEqual({ applied: ['0001_broken.sql'] });
  });

  it('that was changed after it was applied is named and refused', async () => {
    write({ '0001_first.sql': 'create table first (n int);\n' });
    await run(database);
    write({ '0001_first.sql': 'create table first (n bigint);\n' });
    await expect(run(database)).rejects.toMatchObject({ code: 'migration_changed', message: expect.stringContaining('0001_first.sql') });
  });

  it('of a newer version is left alone, and what is missing beside it is applied', async () => {
    write({ '0001_first.sql': 'create table first (n int);\n', '0003_newer.sql': 'create table newer (n int);\n' });
    await run(database);
    fs.rmSync(path.join(folder, '0003_newer.sql'));
    write({ '0002_second.sql': 'create table second (n int);\n' });
    expect(await run(database)).toEqual({ applied: ['0002_second.sql'] });
    expect(await schemaVersion(database.pool)).toBe('0003_newer.sql');
    expect(await pendingMigrations(database.pool, folder)).toEqual([]);
  });

  it('that was built concurrently and cut off is repaired: the invalid remnant goes, a valid index comes', async () => {
    write({ '0001_big.sql': bigTable });
    await run(database);
    await database.pool.query(`insert into big values (1, 1)`);
    await database.pool.query('create unique index concurrently big_by_m on big (m)').catch(() => {});
    expect(await indexes(database)).toEqual([{ name: 'big_by_m', valid: false }]);
    write({ '0002_index.sql': bigIndex });
    expect(await run(database)).toEqual({ applied: ['0002_index.sql'] });
    expect(await indexes(database)).toEqual([{ name: 'big_by_m', valid: true }]);
  });

  it('waits for a table that somebody holds, without making everybody queue behind it', async () => {
    write({ '0001_big.sql': bigTable });
    await run(database);
    const holder = await database.pool.connect();
    await holder.query('begin; select count(*) from big');
    write({ '0002_column.sql': 'alter table big add column k int;\n' });
    const migrating = run(database);
    await until(async () => (await database.pool.query(`select 1 from pg_locks where relation = 'big'::regclass and not granted`)).rowCount, { what: 'the migration waits' });
    await until(async () => (await database.pool.query(`select 1 from pg_locks where relation = 'big'::regclass and not granted`)).rowCount === 0, { what: 'it steps back' });
    expect((await database.pool.query('select count(*)::int as n from big')).rows[0].n).toBe(20000);
    await holder.query('rollback');
    holder.release();
    expect(await migrating).toEqual({ applied: ['0002_column.sql'] });
  });

  it('lock that does not come free is an error that names who holds it', async () => {
    const holder = new pg.Client({ connectionString: database.url, application_name: 'sleeping beauty' });
    await holder.connect();
    const { rows } = await holder.query('select pg_backend_pid() as pid, pg_advisory_lock(1818587234, 1)');
    write({ '0001_first.sql': 'create table first (n int);\n' });
    await expect(migrate({ directUrl: database.url, migrationsDir: folder, log, deadlineMs: 300 })).rejects.toMatchObject({
      code: 'migration_locked', message: expect.stringMatching(new RegExp(`backend ${rows[0].pid} \\(sleeping beauty\\)`)),
    });
    await holder.end();
  });

  it('names the database that does not answer or turns it away, what to check, and no password', async () => {
    write({ '0001_first.sql': 'create table first (n int);\n' });
    const at = (change: (url: URL) => void) => {
      const url = new URL(database.url);
      change(url);
      return migrate({ directUrl: url.href, migrationsDir: folder, log, deadlineMs: 0 }).then(() => undefined, (error: unknown) => error);
    };
    const silent = await at((url) => { url.port = '1'; url.password = 'hunter2'; });
    expect(silent).toMatchObject({ code: 'database_away', message: expect.stringMatching(/ at 127\.0\.0\.1:1 does not answer: .*ECONNREFUSED.* Check DATABASE_URL/) });
    const unknown = await at((url) => { url.pathname = '/nowhere'; });
    expect(unknown).toMatchObject({ code: 'database_refused', message: expect.stringMatching(/^The database nowhere at .* refuses the connection: .*does not exist.* Check DATABASE_URL/) });
    expect(String(silent) + String(unknown)).not.toContain('hunter2');
  });

  it('waits for a database that accepts no connections yet', async () => {
    const database = await testDatabase();
    const accept = (yes: boolean) => onServer((client) => client.query(`alter database ${new URL(database.url).pathname.slice(1)} allow_connections ${yes}`));
    const said: string[] = [];
    write({ '0001_a.sql': 'create table waited (n int);\n' });
    await accept(false);
    const booted = migrate({ directUrl: database.url, migrationsDir: folder, log: pino({ base: null }, { write: (line) => void said.push(line) }) });
    await until(() => said.some((line) => line.includes('"event":"database_away","code":"55000"')));
    await accept(true);
    expect(await booted).toEqual({ applied: ['0001_a.sql'] });
  });

  it('is refused on a database that is not UTF8', async () => {
    const latin = await testDatabase({ template: false, encoding: 'LATIN1' });
    write({ '0001_first.sql': 'create table first (n int);\n' });
    await expect(run(latin)).rejects.toMatchObject({ code: 'wrong_encoding', message: expect.stringContaining('found LATIN1') });
  });

  it('is refused through a transaction pooler, which is named', async () => {
    const pooler = await startTransactionPooler(database.url);
    write({ '0001_first.sql': 'create table first (n int);\n' });
    await expect(migrate({ directUrl: pooler.url, migrationsDir: folder, log })).rejects.toMatchObject({ code: 'transaction_pooler', message: expect.stringContaining('DATABASE_DIRECT_URL') });
    await pooler.stop();
  });

  it('file with a taken number or a strange name is refused', async () => {
    write({ '0001_a.sql': 'select 1;', '0001_b.sql': 'select 1;' });
    await expect(run(database)).rejects.toMatchObject({ code: 'bad_migration_file' });
    fs.rmSync(path.join(folder, '0001_b.sql'));
    write({ 'later.sql': 'select 1;' });
    await expect(run(database)).rejects.toMatchObject({ code: 'bad_migration_file' });
  });
});
