import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import { pump } from '../../server/lease/pump.js';
import { parseItems } from '../../server/lease/queues.js';
import { settle } from '../../server/lease/settle.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { alice, bob, clear, expectSound, itemRow, newJob, openTransaction, undoOpen } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(() => clear(database.pool));
afterEach(undoOpen);

const PLANNER = ['enable_nestloop', 'enable_hashjoin', 'enable_mergejoin', 'enable_seqscan', 'enable_indexscan', 'enable_bitmapscan', 'enable_indexonlyscan', 'enable_material'];
const PAIRS = PLANNER.flatMap((first, n) => PLANNER.slice(n).map((second) => [first, second]));

describe('acquire', () => {
  it(`takes exactly n rows, the oldest, under all ${PAIRS.length} pairs of planner options switched off, and settles under them too`, async () => {
    const { itemIds } = await newJob(database.pool, 12);
    const seen: unknown[] = [];
    for (const [first, second] of PAIRS) {
      const tx = await openTransaction(database.pool);
      await tx.query(`set local ${first} = off; set local ${second} = off`);
      const leases = await acquire(tx, parseItems, alice, 5);
      const endings = leases.map((lease) => ({ id: lease.id, token: lease.token, verb: 'succeed' as const }));
      const next = await pump(tx, parseItems, alice, { endings, claim: 4 });
      seen.push([first, second, leases.map((lease) => lease.id).sort(), next.ended.length, next.claimed.map((lease) => lease.id).sort()]);
      await tx.undo();
    }
    expect(seen).toEqual(PAIRS.map(([first, second]) => [first, second, itemIds.slice(0, 5), 5, itemIds.slice(5, 9)]));
  });

  it('takes what there is when that is less, and nothing for a limit of nothing', async () => {
    await newJob(database.pool, 3);
    expect(await acquire(database.pool, parseItems, alice, 0)).toEqual([]);
    expect(await acquire(database.pool, parseItems, alice, 10)).toHaveLength(3);
    expect(await acquire(database.pool, parseItems, alice, 10)).toEqual([]);
  });

  it('hands out the row with its token, kind, counters and the queue\'s own columns, never its bytes', async () => {
    const { jobId, itemIds } = await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    expect(lease).toEqual({
      queue: 'parse_items', id: itemIds[0], token: '1', kind: 'pdf', attempt: 0, lostLeases: 0,
      row: { job_id: jobId, user_id: `user-${jobId}`, session_id: 'session-1', filename: '0.pdf', byte_size: '16' },
    });
    expect(await itemRow(database.pool, itemIds[0]!)).toMatchObject({ state: 'running', worker_id: 'w-alice' });
    expect((await itemRow(database.pool, itemIds[0]!)).expires_in).toBeGreaterThan(55);
  });

  it('passes over rows that are not due, of an unknown kind, of a newer schema, and a paused queue', async () => {
    const { itemIds } = await newJob(database.pool, 4);
    await database.pool.query(`update parse_items set run_after = now() + interval '1 hour' where id = $1`, [itemIds[0]]);
    await database.pool.query(`update parse_items set kind = 'epub' where id = $1`, [itemIds[1]]);
    await database.pool.query(`update parse_items set schema_version = 2 where id = $1`, [itemIds[2]]);
    await database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('parse_items', 'someone', 'a test')`);
    expect(await acquire(database.pool, parseItems, alice, 10)).toEqual([]);
    await database.pool.query('delete from queue_pauses');
    expect((await acquire(database.pool, parseItems, alice, 10)).map((lease) => lease.id)).toEqual([itemIds[3]]);
  });

  it('passes over rows that others hold locked, without waiting', async () => {
    const { itemIds } = await newJob(database.pool, 2);
    const other = await openTransaction(database.pool);
    await other.query('select 1 from parse_items where id = $1 for update', [itemIds[0]]);
    expect((await acquire(database.pool, parseItems, alice, 2)).map((lease) => lease.id)).toEqual([itemIds[1]]);
  });

  it('starts at the low-water mark, and its answer moves the mark up to what it took but never nearer than two seconds to now', async () => {
    const { itemIds } = await newJob(database.pool, 3);
    for (const [n, id] of itemIds.entries()) await database.pool.query(`update parse_items set run_after = now() - interval '1 hour' * $1 where id = $2`, [3 - n, id]);
    const first = await pump(database.pool, parseItems, alice, { endings: [], claim: 1 });
    expect(first.claimed.map((lease) => lease.id)).toEqual([itemIds[0]]);
    await settle(database.pool, parseItems, alice, [{ id: itemIds[0]!, token: '1', verb: 'drain' }]);
    const second = await pump(database.pool, parseItems, alice, { endings: [], claim: 1, lowWaterMark: first.lowWaterMark });
    expect(second.claimed.map((lease) => lease.id)).toEqual([itemIds[0]]); // at the mark, not below it
    const third = await pump(database.pool, parseItems, alice, { endings: [], claim: 5, lowWaterMark: second.lowWaterMark });
    expect(third.claimed).toHaveLength(2);
    await settle(database.pool, parseItems, alice, [{ id: itemIds[0]!, token: '2', verb: 'drain' }]);
    expect((await pump(database.pool, parseItems, alice, { endings: [], claim: 5, lowWaterMark: third.lowWaterMark })).claimed).toEqual([]); // below it
    const empty = await pump(database.pool, parseItems, bob, { endings: [], claim: 0 });
    const { rows } = await database.pool.query('select extract(epoch from now() - $1::timestamptz)::float8 as trails', [empty.lowWaterMark]);
    expect(rows[0].trails).toBeGreaterThanOrEqual(2);
    expect((await pump(database.pool, parseItems, alice, { endings: [], claim: 5 })).claimed).toHaveLength(1);
  });

  it('takes no more than it has slots for where a row among them has lost a lease, so that few are held beside one that kills its workers', async () => {
    const { itemIds } = await newJob(database.pool, 12);
    const claim = async (limit: number, besideLost: number) => {
      const { claimed, claimLimit } = await pump(database.pool, parseItems, alice, { endings: [], claim: limit, claimBesideLost: besideLost });
      await settle(database.pool, parseItems, alice, claimed.map(({ id, token }) => ({ id, token, verb: 'unstarted' })));
      return [claimed.length, claimLimit];
    };
    expect(await claim(8, 2)).toEqual([8, 8]);
    await database.pool.query('update parse_items set lost_leases = 1 where id = $1', [itemIds[7]]);
    expect(await claim(8, 2)).toEqual([2, 2]);
    expect(await claim(8, -3)).toEqual([0, 0]);
    expect(await claim(7, 2)).toEqual([7, 7]); // it stands behind these
    expect(await claim(2, 8)).toEqual([2, 2]);
    await database.pool.query('update parse_items set lost_leases = 0, run_after = run_after + interval \'1 hour\' where id = $1', [itemIds[7]]);
    expect(await claim(8, 2)).toEqual([8, 8]);
  });

  it('takes, gives back and ends rows that have waited or run for longer than a 32-bit count of milliseconds', async () => {
    await newJob(database.pool, 4);
    await database.pool.query(`update parse_items set run_after = now() - interval '90 days', queued_at = now() - interval '90 days'`);
    const leases = await acquire(database.pool, parseItems, alice, 4);
    expect(leases).toHaveLength(4);
    await database.pool.query(`update parse_items set claimed_at = now() - interval '90 days'`);
    const settled = await settle(database.pool, parseItems, alice, [{ id: leases[0]!.id, token: '1', verb: 'succeed' }]);
    expect(settled.get(leases[0]!.id)).toBe('settled');
  });
});

describe('a claim and a settle in one statement', () => {
  it('never claims the row that the same statement puts back', async () => {
    await newJob(database.pool, 1);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    const result = await pump(database.pool, parseItems, alice, { endings: [{ id: lease!.id, token: lease!.token, verb: 'drain' }], claim: 5 });
    expect([result.ended.length, result.claimed.length]).toEqual([1, 0]);
    await expectSound(database.pool);
  });

  it('ends each row once although its end was handed in twice', async () => {
    await newJob(database.pool, 2);
    const leases = await acquire(database.pool, parseItems, alice, 2);
    const endings = [...leases, ...leases].map((lease) => ({ id: lease.id, token: lease.token, verb: 'retry' as const, code: 'internal', message: 'It failed.', delayMs: 0 }));
    const result = await pump(database.pool, parseItems, alice, { endings, claim: 0 });
    expect(result.ended).toHaveLength(2);
    expect(result.missed).toEqual([]);
    expect(await itemRow(database.pool, leases[0]!.id)).toMatchObject({ state: 'queued', attempt: 1 });
    await expectSound(database.pool);
  });
});
