import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { kick } from '../../server/bus/kick.js';
import { decode, type KickMessage } from '../../server/bus/topics.js';
import { enqueue } from '../../server/lease/enqueue.js';
import { parseJobs } from '../../server/lease/queues.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

const channels = { kickChannel: 'test_kicks' };
let db: TestDatabase;
let client: pg.Client;
let heard: KickMessage[];

beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.url });
  client.on('notification', ({ payload }) => heard.push(decode('kick', payload)!));
  await client.connect();
  await client.query(`listen ${channels.kickChannel}`);
});
beforeEach(() => {
  heard = [];
});
afterAll(() => client.end());

/** What was sent before this call has arrived when it returns: notifications come before the answer to a later query. */
const settled = () => client.query('select 1');

async function inTransaction(end: 'commit' | 'rollback', fn: (tx: pg.PoolClient) => Promise<void>) {
  const tx = await db.pool.connect();
  try {
    await tx.query('begin');
    await fn(tx);
    await tx.query(end);
  } finally {
    tx.release();
  }
}

it('arrives with the commit, not before, and once however often it was sent within the transaction', async () => {
  await inTransaction('commit', async (tx) => {
    await kick(tx, channels, { q: 'parse_items' });
    await kick(tx, channels, { q: 'parse_items' });
    await settled();
    expect(heard).toEqual([]);
  });
  await settled();
  expect(heard).toEqual([{ q: 'parse_items' }]);
});

it('does not arrive when the transaction is rolled back', async () => {
  await inTransaction('rollback', (tx) => kick(tx, channels, { q: 'parse_items', low: true }));
  await settled();
  expect(heard).toEqual([]);
});

it('travels with the row that is enqueued alone, in its one statement: both are there, or neither', async () => {
  const id = uuidv7();
  const job = { id, state: 'awaiting' as const, columns: { user_id: 'user-1', session_id: 'session-1', open_children: 1, total_children: 1 } };
  await enqueue(db.pool, parseJobs, job, channels);
  await settled();
  expect(heard).toEqual([{ q: 'parse_jobs' }]);
  expect((await db.pool.query('select cause, to_state from queue_events where row_id = $1', [id])).rows).toEqual([{ cause: 'enqueue', to_state: 'awaiting' }]);
  await expect(enqueue(db.pool, parseJobs, job, channels)).rejects.toThrow(/duplicate key/);
  await settled();
  expect(heard).toHaveLength(1);
});

it('names thousands of lost leases in as many payloads as Postgres takes', async () => {
  const lost = Array.from({ length: 3_000 }, (_, n) => `${'ü'.repeat(18)}${n}`);
  await inTransaction('commit', (tx) => kick(tx, channels, { lost }));
  await settled();
  expect(heard.length).toBeGreaterThan(1);
  expect(heard.flatMap((message) => ('lost' in message ? message.lost : []))).toEqual(lost);
});

it('sends drain and resume with the worker they name, and nothing for an empty list', async () => {
  await kick(db.pool, channels, { drain: 'w-1' });
  await kick(db.pool, channels, { resume: 'w-1' });
  await kick(db.pool, channels, { lost: [] });
  await settled();
  expect(heard).toEqual([{ drain: 'w-1' }, { resume: 'w-1' }]);
});
