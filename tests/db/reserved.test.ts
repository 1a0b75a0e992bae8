import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectDirect } from '../../server/db/connection.js';
import { createReservedConnection, NoAnswer, type ReservedConnection } from '../../server/db/reserved.js';
import { createLogger } from '../../server/log.js';
import { createProxy } from '../bus/proxy.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const log = createLogger({ level: 'silent', name: 'test' });
let database: TestDatabase;
let connection: ReservedConnection | undefined;
beforeAll(async () => { database = await testDatabase(); });
afterEach(() => connection?.close());

function reserve(options: { url?: string; answerTimeoutMs?: number; setup?: string } = {}): ReservedConnection {
  const config = database.config(options.url ? { databaseDirectUrl: options.url } : {});
  connection = createReservedConnection({
    connect: () => connectDirect(config, { role: 'test', purpose: 'reserved', log }), setup: options.setup ?? 'select 1', answerTimeoutMs: options.answerTimeoutMs ?? 5_000, log,
  });
  return connection;
}

const pid = async (db: ReservedConnection) => (await db.query({ text: 'select pg_backend_pid() as pid' })).rows[0].pid as number;

describe('a reserved connection', () => {
  it('is opened by its first statement, kept, and set up once', async () => {
    const db = reserve({ setup: `set application_name = 'set up'` });
    expect(db.generation()).toBe(0);
    expect(await pid(db)).toBe(await pid(db));
    expect((await db.query({ text: 'show application_name' })).rows).toEqual([{ application_name: 'set up' }]);
    expect(db.generation()).toBe(1);
  });

  it('runs its statements one after the other, and a refused one does not cost the connection', async () => {
    const db = reserve();
    const first = db.query({ text: 'select pg_sleep(0.2), clock_timestamp() as at' });
    const second = db.query({ text: 'select 1 / 0' });
    const third = db.query({ text: 'select clock_timestamp() as at' });
    await expect(second).rejects.toThrow(/division by zero/);
    expect((await third).rows[0].at.getTime()).toBeGreaterThanOrEqual((await first).rows[0].at.getTime());
    expect(db.generation()).toBe(1);
  });

  it('whose backend is terminated between two statements opens another and says so by its generation', async () => {
    const db = reserve();
    const old = await pid(db);
    await database.pool.query('select pg_terminate_backend($1)', [old]);
    await until(async () => (await database.pool.query('select 1 from pg_stat_activity where pid = $1', [old])).rows.length === 0);
    await until(() => pid(db).then(() => true, () => false));
    expect(db.generation()).toBe(2);
  });

  it('whose backend is terminated in the middle of a statement rejects it and repeats nothing by itself', async () => {
    const db = reserve();
    await database.pool.query('create table if not exists written (n int)');
    const old = await pid(db);
    const lost = db.query({ text: 'with w as (insert into written values (1)) select pg_sleep(10)' });
    await until(async () => (await database.pool.query(`select 1 from pg_stat_activity where pid = $1 and state = 'active'`, [old])).rows.length === 1);
    await database.pool.query('select pg_terminate_backend($1)', [old]);
    await expect(lost).rejects.toThrow();
    await db.query({ text: 'select 1' });
    expect((await database.pool.query('select * from written')).rows).toEqual([]);
  });

  it('that cannot be opened rejects, and opens later', async () => {
    const proxy = await createProxy(database.url);
    const db = reserve({ url: proxy.url });
    proxy.set('refuse');
    await expect(db.query({ text: 'select 1' })).rejects.toThrow();
    proxy.set('forward');
    expect((await db.query({ text: 'select 1 as one' })).rows).toEqual([{ one: 1 }]);
    expect(db.generation()).toBe(1);
    await db.close();
    await proxy.close();
  });

  it('does not wait for ever for an answer that a cut cable swallows, nor for its own goodbye', async () => {
    const proxy = await createProxy(database.url);
    const db = reserve({ url: proxy.url, answerTimeoutMs: 400 });
    await db.query({ text: 'select 1' });
    proxy.set('hole');
    await expect(db.query({ text: 'select 1' })).rejects.toThrow(NoAnswer);
    proxy.set('refuse');
    proxy.set('forward');
    await db.query({ text: 'select 1' });
    proxy.set('hole');
    const started = performance.now();
    await db.close();
    expect(performance.now() - started).toBeLessThan(3_000);
    await proxy.close();
  });

  it('runs nothing after its end, which may be asked for twice', async () => {
    const db = reserve();
    await db.query({ text: 'select 1' });
    await db.close();
    await db.close();
    await expect(db.query({ text: 'select 1' })).rejects.toThrow(/closed/);
  });

  it('that is closed before it was ever opened is simply closed', async () => {
    await reserve().close();
    expect(pg.Client).toBeDefined();
  });
});
