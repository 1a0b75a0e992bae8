import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { loadConfig, withDatabase, type Config } from '../../server/config.js';
import { createPool, errorCode } from '../../server/db/connection.js';
import { createLogger } from '../../server/log.js';
import { until } from './until.js';

export type TestDatabase = {
  url: string;
  /** A small pool of the test's own; ended by `drop`. */
  pool: pg.Pool;
  /** The defaults, pointed at this database, silent; `overrides` on top. */
  config(overrides?: Partial<Config>): Config;
  /** A further pool, as another process would have it; ended by `drop`. */
  createPool(options?: { max?: number, role?: string }): pg.Pool;
  /** Called by itself at the end of the file; fails when connections are still open that the test did not end. */
  drop(): Promise<void>;
};

const open = new Set<TestDatabase>();

/** A new database with every migration, cloned from the template. Call it in `beforeAll`. `template: false` gives an empty one. */
export async function testDatabase(options: { template?: boolean, encoding?: string } = {}): Promise<TestDatabase> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  await createDatabase(name, options);
  const url = Object.assign(new URL(inject('databaseServer')), { pathname: `/${name}` }).href;
  const pools: pg.Pool[] = [];
  const database: TestDatabase = {
    url,
    config: overrides => ({ ...withDatabase(loadConfig({ LOG_LEVEL: 'silent' }), url), embedded: false, ...overrides }),
    createPool(pool = {}) {
      const made = createPool(database.config({ databasePoolMax: pool.max ?? 5 }), { role: pool.role ?? 'test', log: silent });
      pools.push(made);
      return made;
    },
    async drop() {
      if (!open.delete(database)) return;
      await Promise.all(pools.filter(pool => !pool.ended).map(pool => pool.end()));
      const leaked = await leakedConnections(name);
      await onServer(client => client.query(`drop database ${name} with (force)`));
      if (leaked.length > 0) throw new Error(`Connections were left open to the test's database: ${leaked.join('; ')}`);
    },
    pool: undefined as unknown as pg.Pool,
  };
  database.pool = database.createPool();
  open.add(database);
  return database;
}

const silent = createLogger({ level: 'silent', name: 'test' });

/** Drops every database of this file. */
export async function dropTestDatabases(): Promise<void> {
  const results = await Promise.allSettled([...open].map(database => database.drop()));
  const failed = results.find(result => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** One statement on the maintenance database, for tests that terminate backends or create databases. */
export async function onServer<T>(fn: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: Object.assign(new URL(inject('databaseServer')), { pathname: '/postgres' }).href });
  await client.connect();
  try {
    return await fn(client);
  } finally {
    await client.end();
  }
}

async function createDatabase(name: string, options: { template?: boolean, encoding?: string }): Promise<void> {
  const source = options.template === false ? 'template0' : inject('templateDatabase');
  const encoding = options.encoding ? ` encoding '${options.encoding}'` : '';
  await until(async () => {
    try {
      await onServer(client => client.query(`create database ${name} template ${source}${encoding}`));
      return true;
    } catch (error) {
      if (errorCode(error) === '55006') return false;   // someone is just looking at the template
      throw error;
    }
  });
}

async function leakedConnections(name: string): Promise<string[]> {
  return onServer(async client => {
    const deadline = performance.now() + 3000;
    for (;;) {
      const { rows } = await client.query<{ seen: string }>(`
        select concat_ws(' ', pid, application_name, state, left(query, 80)) as seen
        from pg_stat_activity where datname = $1 and backend_type = 'client backend'`, [name]);
      if (rows.length === 0 || performance.now() > deadline) return rows.map(row => row.seen);
      await client.query('select pg_sleep(0.02)');
    }
  });
}
