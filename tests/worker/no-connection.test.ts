/** A database that has no connection to give, or does not answer, is not the work's fault: the row waits, and no try is counted. */
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { limited } from '../../server/db/limited.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { causes } from '../lease/world.js';
import { add, row, startWorker, stopAll, workerDatabase } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await workerDatabase(); });
beforeEach(() => database.pool.query('delete from test_rows; delete from queue_events; delete from breakers'));
afterEach(stopAll);

/** Makes one try with this handler and waits until the row is back. */
async function afterOneTry(work: (pool: pg.Pool) => Promise<unknown>) {
  const [id] = await add(database.pool, ['only']);
  await startWorker(database, { test_rows: async (_, { pool }) => { await work(pool); return { succeed: true }; } });
  await until(async () => (await causes(database.pool, id!)).length === 3, { what: 'the end of the first try' });
  return { row: await row(database.pool, id!), causes: await causes(database.pool, id!) };
}

const waiting = { row: { state: 'queued', attempt: 0, lost_leases: 0 }, causes: ['enqueue', 'acquire', 'outage'] };

it('when the server has no connection left', async () => {
  const role = `crowded_${process.pid}`;
  await database.pool.query(`create role ${role} login password 'x' connection limit 0`);
  const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href;
  const crowded = new pg.Pool({ connectionString: url });
  try {
    await expect(crowded.query('select 1')).rejects.toMatchObject({ code: '53300' });
    expect(await afterOneTry(() => crowded.query('select 1'))).toMatchObject(waiting);
  } finally {
    await crowded.end();
    await stopAll();
    await database.pool.query(`drop role ${role}`);
  }
});

it('when a statement by key has no answer within its limit', async () => {
  expect(await afterOneTry((pool) => pool.query(limited('select pg_sleep(1)', [], 100)))).toMatchObject(waiting);
});
