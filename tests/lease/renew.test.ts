import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import type { Lease } from '../../server/lease/lease.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import { renew, type Beat } from '../../server/lease/renew.js';
import { settle } from '../../server/lease/settle.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { age, alice, causes, clear, expectSound, itemRow, newJob, openTransaction, undoOpen } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(() => clear(database.pool));
afterEach(undoOpen);

const beat = (lease: Lease, progress?: { done: number; total: number }): Beat => ({ queue: lease.queue, id: lease.id, token: lease.token, ...(progress ? { progress } : {}) });
const answers = async (beats: Beat[]) => Object.fromEntries([...await renew(database.pool, beats, 60)].map(([key, renewal]) => [key.split('/')[1], renewal]));

describe('a beat', () => {
  it('moves the expiry and nothing that others decide by', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, { ...alice, leaseSeconds: 5 }, 1);
    expect(await answers([beat(lease!)])).toEqual({ [lease!.id]: 'renewed' });
    const row = await itemRow(database.pool, lease!.id);
    expect(row).toMatchObject({ state: 'running', token: '1', attempt: 0, lost_leases: 0, done: null });
    expect(row.expires_in).toBeGreaterThan(55);
    expect(await causes(database.pool, lease!.id)).toEqual(['enqueue', 'acquire']);
    await expectSound(database.pool);
  });

  it('of a lease that ran out before a sweep saw it revives it', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await age(database.pool);
    expect(await answers([beat(lease!)])).toEqual({ [lease!.id]: 'renewed' });
  });

  it('tells renewed, skipped and gone apart in one answer, over several queues in one statement', async () => {
    await newJob(database.pool, 3);
    const items = await acquire(database.pool, parseItems, alice, 3);
    await settle(database.pool, parseItems, alice, items.map((lease) => ({ id: lease.id, token: lease.token, verb: 'succeed' })));
    await newJob(database.pool, 3);
    const [job] = await acquire(database.pool, parseJobs, alice, 1);
    const [renewed, locked, ended] = await acquire(database.pool, parseItems, alice, 3);
    await settle(database.pool, parseItems, alice, [{ id: ended!.id, token: ended!.token, verb: 'succeed' }]);
    const other = await openTransaction(database.pool);
    await other.query('select 1 from parse_items where id = $1 for update', [locked!.id]);
    expect(await answers([job!, renewed!, locked!, ended!].map((lease) => beat(lease)))).toEqual({
      [job!.id]: 'renewed', [renewed!.id]: 'renewed', [locked!.id]: 'skipped', [ended!.id]: 'gone',
    });
    await other.commit();
    expect(await answers([beat(locked!)])).toEqual({ [locked!.id]: 'renewed' });
  });

  it('calls a row that does not exist, or is held under another token, gone', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    expect(await answers([{ ...beat(lease!), token: '2' }])).toEqual({ [lease!.id]: 'gone' });
    await database.pool.query('truncate parse_items');
    expect(await answers([beat(lease!)])).toEqual({ [lease!.id]: 'gone' });
    expect(await answers([])).toEqual({});
  });

  it('carries progress, dates its change, and keeps what is known when it carries none', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    const progressed = async () => (await database.pool.query('select done, total, progressed_at from parse_items')).rows[0];
    await answers([beat(lease!)]);
    expect(await progressed()).toEqual({ done: null, total: null, progressed_at: null });
    await answers([beat(lease!, { done: 3, total: 9 })]);
    const first = await progressed();
    expect(first).toMatchObject({ done: 3, total: 9, progressed_at: expect.any(Date) });
    await answers([beat(lease!, { done: 3, total: 9 })]);
    await answers([beat(lease!)]);
    expect(await progressed()).toEqual(first);
  });

  it('forgets the progress of an earlier try', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await answers([beat(lease!, { done: 3, total: 9 })]);
    await settle(database.pool, parseItems, alice, [{ id: lease!.id, token: lease!.token, verb: 'drain' }]);
    await acquire(database.pool, parseItems, alice, 1);
    expect(await itemRow(database.pool, lease!.id)).toMatchObject({ done: null, total: null });
  });

  it('is a HOT update, at least 99 of 100', async () => {
    await newJob(database.pool, 60);
    const leases = await acquire(database.pool, parseItems, alice, 4); // more at once make room for themselves with their first beats
    const beats = 200;
    const client = new pg.Client({ connectionString: database.url }); // its end makes it report what it did
    await client.connect();
    const updates = async () => (await database.pool.query(`select n_tup_upd::int as all, n_tup_hot_upd::int as hot from pg_stat_user_tables where relname = 'parse_items'`)).rows[0] as { all: number; hot: number };
    await database.pool.query('select pg_stat_force_next_flush()');
    const before = await until(async () => { const now = await updates(); return now.all >= 4 && now; });
    // Half a minute lies between two beats: whatever ran during the last one has ended. Here that is waited for, other databases' transactions included.
    const quiet = async () => (await client.query('select pg_snapshot_xmin(s) = pg_snapshot_xmax(s) as quiet from pg_current_snapshot() as s')).rows[0].quiet as boolean;
    for (let n = 0; n < beats; n++) {
      await until(quiet);
      await renew(client, leases.map((lease) => beat(lease, { done: n, total: beats })), 60);
    }
    await client.end();
    const after = await until(async () => { const now = await updates(); return now.all >= before.all + beats * 4 && now; });
    expect(after.hot - before.hot).toBeGreaterThanOrEqual((after.all - before.all) * 0.99);
  });

  it('notifies nobody, neither does an acquire or a settle', async () => {
    const heard: string[] = [];
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    listener.on('notification', (note) => heard.push(note.channel));
    await listener.query('listen leaseboard_rows; listen leaseboard_kick');
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await answers([beat(lease!, { done: 1, total: 2 })]);
    await settle(database.pool, parseItems, alice, [{ id: lease!.id, token: lease!.token, verb: 'succeed' }]);
    await database.pool.query(`notify leaseboard_rows, 'the last'`);
    await until(() => heard.length > 0);
    expect(heard).toEqual(['leaseboard_rows']);
    await listener.end();
  });
});
