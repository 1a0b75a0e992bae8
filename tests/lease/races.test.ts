// One deterministic test a race: a transaction stands between read and write, the other side runs, then the first one ends.
import type pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../server/db/connection.js';
import { acquire } from '../../server/lease/acquire.js';
import { cancel } from '../../server/lease/cancel.js';
import { sweepExpired } from '../../server/lease/expiry.js';
import { fence } from '../../server/lease/fence.js';
import type { Lease } from '../../server/lease/lease.js';
import { pump } from '../../server/lease/pump.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import { reconcileParents } from '../../server/lease/reconcile.js';
import { renew } from '../../server/lease/renew.js';
import { settle } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { age, alice, bob, causes, clear, expectSound, itemRow, jobRow, newJob, openTransaction, someoneWaits, sweepOptions, undoOpen, type NewJob } from './world.js';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = database.createPool({ max: 10 });
});
beforeEach(() => clear(pool));
afterEach(undoOpen);

const succeed = (lease: Lease) => ({ id: lease.id, token: lease.token, verb: 'succeed' as const });

/** Alice holds the only item of a new job. */
async function held(count = 1) {
  const job = await newJob(pool, count);
  const leases = await acquire(pool, parseItems, alice, count);
  return { ...job, leases, lease: leases[0]! };
}

/** Starts `work` and answers it once it waits behind a lock. */
async function blocked<T>(work: Promise<T>): Promise<{ result: Promise<T> }> {
  work.catch(() => {});
  await until(() => someoneWaits(pool));
  return { result: work };
}

describe('settle against sweep', () => {
  it('a settle that has not committed is passed over by the sweep', async () => {
    const { lease } = await held();
    await age(pool);
    const settling = await openTransaction(pool);
    expect((await settle(settling, parseItems, alice, [succeed(lease)])).get(lease.id)).toBe('settled');
    expect(await sweepExpired(pool, parseItems, 10)).toMatchObject({ requeued: [], failed: [] });
    await settling.commit();
    expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'succeeded', lost_leases: 0 });
    await expectSound(pool);
  });

  it('a settle that meets an uncommitted sweep waits for it, writes nothing and leaves a late write', async () => {
    const { lease, jobId } = await held();
    await age(pool);
    const sweeping = await openTransaction(pool);
    expect((await sweepExpired(sweeping, parseItems, 10)).requeued).toEqual([lease.id]);
    const { result } = await blocked(settle(pool, parseItems, alice, [succeed(lease)]));
    await sweeping.commit();
    expect((await result).get(lease.id)).toBe('lost');
    expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'queued', lost_leases: 1, bytes: true });
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'awaiting', open_children: 1 });
    expect(await causes(pool, lease.id)).toEqual(['enqueue', 'acquire', 'sweep', 'late_write']);
    await expectSound(pool);
  });

  it('a settle that meets a sweep that is undone takes effect', async () => {
    const { lease } = await held();
    await age(pool);
    const sweeping = await openTransaction(pool);
    await sweepExpired(sweeping, parseItems, 10);
    const { result } = await blocked(settle(pool, parseItems, alice, [succeed(lease)]));
    await sweeping.undo();
    expect((await result).get(lease.id)).toBe('settled');
    await expectSound(pool);
  });
});

describe('settle against cancel', () => {
  it('a settle behind a cancel of the parent is late, and the row stays cancelled', async () => {
    const { lease, jobId } = await held();
    const cancelling = await openTransaction(pool);
    expect((await cancel(cancelling, parseJobs, [jobId], 'No longer wanted.')).lost).toEqual([lease.id]);
    const { result } = await blocked(settle(pool, parseItems, alice, [succeed(lease)]));
    await cancelling.commit();
    expect((await result).get(lease.id)).toBe('lost');
    expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'cancelled', bytes: false });
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'cancelled', open_children: 0, succeeded_children: 0 });
    await expectSound(pool);
  });

  it('a cancel of the parent behind a settle keeps what was finished and cancels the rest', async () => {
    const { leases, jobId } = await held(2);
    const settling = await openTransaction(pool);
    await settle(settling, parseItems, alice, [succeed(leases[0]!)]);
    const { result } = await blocked(inTransaction(pool, (tx) => cancel(tx, parseJobs, [jobId], 'No longer wanted.')));
    await settling.commit();
    expect((await result).rows).toEqual([{ queue: 'parse_items', id: leases[1]!.id }, { queue: 'parse_jobs', id: jobId }]);
    expect(await itemRow(pool, leases[0]!.id)).toMatchObject({ state: 'succeeded' });
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'cancelled', open_children: 0, succeeded_children: 1 });
    await expectSound(pool);
  });

  it('a cancel behind the settle that closes the parent cancels only the parent', async () => {
    const { lease, jobId } = await held();
    const settling = await openTransaction(pool);
    await settle(settling, parseItems, alice, [succeed(lease)]);
    const { result } = await blocked(inTransaction(pool, (tx) => cancel(tx, parseJobs, [jobId], 'No longer wanted.')));
    await settling.commit();
    expect((await result).rows).toEqual([{ queue: 'parse_jobs', id: jobId }]);
    expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'succeeded' });
    await expectSound(pool);
  });

  it('a pump that settles one child and claims another never waits for a lock while it holds a claim', async () => {
    const { leases, jobId, itemIds } = await held(1);
    const sibling = (await newJob(pool, 1)).itemIds[0]!;
    await pool.query('update parse_items set job_id = $1 where id = $2', [jobId, sibling]);
    await pool.query('update parse_jobs set open_children = 2, total_children = 2 where id = $1', [jobId]);
    const cancelling = await openTransaction(pool);
    await cancelling.query('select 1 from parse_items where id = $1 for update', [itemIds[0]]);
    const { result } = await blocked(pump(pool, parseItems, alice, { endings: [succeed(leases[0]!)], claim: 1 }));
    await cancelling.query({ text: `set local lock_timeout = '500ms'` });
    await cancelling.query('select 1 from parse_items where id = $1 for update', [sibling]); // would wait for ever if the claim came first
    await cancelling.commit();
    expect((await result).ended).toHaveLength(1);
    await expectSound(pool).catch(() => {}); // the second job was robbed of its item by hand
  });
});

describe('a fence', () => {
  it('keeps the row from sweep and cancel until the writes behind it are committed', async () => {
    const { lease, jobId } = await held();
    await age(pool);
    const writing = await openTransaction(pool);
    await fence(writing, lease);
    expect((await sweepExpired(pool, parseItems, 10)).requeued).toEqual([]);
    const { result } = await blocked(inTransaction(pool, (tx) => cancel(tx, parseJobs, [jobId], 'No longer wanted.')));
    await writing.commit();
    expect((await result).lost).toEqual([lease.id]);
  });
});

describe('the order of locks', () => {
  const PLANS = ['select 1', 'set local enable_nestloop = off', 'set local enable_hashjoin = off; set local enable_nestloop = off', 'set local enable_indexscan = off; set local enable_bitmapscan = off'];

  /** While the first of these rows is locked by someone else, `work` waits for it and must not hold any that comes after it. */
  async function mustTakeInOrder(table: string, ids: readonly string[], plan: string, work: (tx: pg.PoolClient) => Promise<unknown>): Promise<void> {
    const [first, ...later] = ids;
    const other = await openTransaction(pool);
    await other.query(`select 1 from ${table} where id = $1 for update`, [first]);
    const working = await openTransaction(pool);
    await working.query(plan);
    const { result } = await blocked(work(working));
    const { rows: free } = await other.query<{ id: string }>(`select id from ${table} where id = any ($1) order by id for update skip locked`, [later]);
    expect(free.map(({ id }) => id)).toEqual(later);
    await other.commit();
    await result;
    await working.undo();
  }

  it.each(PLANS)('of ends is that of their ids, in whatever order they are handed in (%s)', async (plan) => {
    const { itemIds } = await newJob(pool, 8);
    await pool.query(`update parse_items set run_after = now() - array_position($1::uuid[], id) * interval '1 minute'`, [itemIds]);
    for (let n = 0; n < 8; n++) await acquire(pool, parseItems, alice, 1); // the last id first: the rows lie in the table the other way round
    const leases = itemIds.map((id) => ({ id, token: '1' }) as Lease);
    for (const verb of ['succeed', 'drain'] as const) {
      const endings = [...leases].reverse().map((lease) => ({ ...succeed(lease), verb }));
      await mustTakeInOrder('parse_items', itemIds, plan, (tx) => settle(tx, parseItems, alice, endings));
    }
  });

  it.each(PLANS)('of the parents of ends is that of their ids (%s)', async (plan) => {
    const jobs: NewJob[] = [];
    for (let n = 0; n < 8; n++) jobs.push(await newJob(pool));
    const leases = await acquire(pool, parseItems, alice, 8);
    await mustTakeInOrder('parse_jobs', jobs.map((job) => job.jobId), plan, (tx) => settle(tx, parseItems, alice, [...leases].reverse().map(succeed)));
  });

  it.each(PLANS)('of a cancel is that of the ids of the children, then of the parents (%s)', async (plan) => {
    const jobs: NewJob[] = [];
    for (let n = 0; n < 4; n++) jobs.push(await newJob(pool, 2));
    const ids = jobs.map((job) => job.jobId).reverse();
    await mustTakeInOrder('parse_items', jobs.flatMap((job) => job.itemIds), plan, (tx) => cancel(tx, parseJobs, ids, 'No longer wanted.'));
    await mustTakeInOrder('parse_jobs', [...ids].reverse(), plan, (tx) => cancel(tx, parseJobs, ids, 'No longer wanted.'));
  });
});

describe('renew against sweep', () => {
  it('a beat passes over a row that an uncommitted sweep holds, and finds it gone afterwards', async () => {
    const { lease } = await held();
    await age(pool);
    const beat = [{ queue: 'parse_items', id: lease.id, token: lease.token }];
    const sweeping = await openTransaction(pool);
    await sweepExpired(sweeping, parseItems, 10);
    expect((await renew(pool, beat, 60)).get(`parse_items/${lease.id}`)).toBe('skipped');
    await sweeping.commit();
    expect((await renew(pool, beat, 60)).get(`parse_items/${lease.id}`)).toBe('gone');
    expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'queued', expires_in: null });
    await expectSound(pool);
  });

  it('a sweep passes over a row whose beat has not committed, and leaves it alone afterwards', async () => {
    const { lease } = await held();
    await age(pool);
    const beating = await openTransaction(pool);
    expect((await renew(beating, [{ queue: 'parse_items', id: lease.id, token: lease.token }], 60)).get(`parse_items/${lease.id}`)).toBe('renewed');
    expect((await sweepExpired(pool, parseItems, 10)).requeued).toEqual([]);
    await beating.commit();
    expect((await sweepExpired(pool, parseItems, 10)).requeued).toEqual([]);
    expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'running', lost_leases: 0 });
  });

  it('a sweep whose snapshot is older than the beat does not take the row', async () => {
    const { lease } = await held();
    await age(pool);
    const sweeping = await openTransaction(pool);
    // The beat commits between the sweep's read and its write: the sweep waits on another row in between.
    const other = await held();
    await age(pool, [other.lease.id]);
    const holding = await openTransaction(pool);
    await holding.query('select 1 from parse_jobs where id = $1 for update', [other.jobId]);
    await renew(pool, [{ queue: 'parse_items', id: lease.id, token: lease.token }], 60);
    expect((await sweepExpired(sweeping, parseItems, 10)).requeued).toEqual([other.lease.id]);
    await holding.commit();
    await sweeping.commit();
    expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'running', lost_leases: 0 });
  });
});

describe('claim against cancel and claim', () => {
  it('a claim passes over the children that an uncommitted cancel of their parent holds', async () => {
    const { jobId, itemIds } = await newJob(pool, 2);
    const cancelling = await openTransaction(pool);
    await cancel(cancelling, parseJobs, [jobId], 'No longer wanted.');
    expect(await acquire(pool, parseItems, alice, 5)).toEqual([]);
    await cancelling.commit();
    expect(await acquire(pool, parseItems, alice, 5)).toEqual([]);
    for (const id of itemIds) expect(await itemRow(pool, id)).toMatchObject({ state: 'cancelled', token: '0' });
    await expectSound(pool);
  });

  it('a cancel behind an uncommitted claim cancels the claimed row and names it as lost', async () => {
    const { jobId, itemIds } = await newJob(pool, 1);
    const claiming = await openTransaction(pool);
    const [lease] = await acquire(claiming, parseItems, alice, 1);
    const { result } = await blocked(inTransaction(pool, (tx) => cancel(tx, parseJobs, [jobId], 'No longer wanted.')));
    await claiming.commit();
    expect((await result).lost).toEqual(itemIds);
    expect((await settle(pool, parseItems, alice, [succeed(lease!)])).get(lease!.id)).toBe('lost');
    await expectSound(pool);
  });

  it('two claims at once never take the same row', async () => {
    await newJob(pool, 3);
    const first = await openTransaction(pool);
    const taken = await acquire(first, parseItems, alice, 2);
    const rest = await acquire(pool, parseItems, bob, 3);
    await first.commit();
    expect(new Set([...taken, ...rest].map((lease) => lease.id)).size).toBe(3);
    await expectSound(pool);
  });
});

describe('sweeps at once', () => {
  it('a second sweeper does nothing while the first is in a step', async () => {
    const { lease } = await held();
    await age(pool);
    const first = await openTransaction(pool);
    await first.query(`select pg_advisory_xact_lock(${0x7377656570})`);
    expect(await sweep(pool, sweepOptions)).toMatchObject({ ran: false, requeued: 0 });
    expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'running' });
    await first.commit();
    expect(await sweep(pool, sweepOptions)).toMatchObject({ ran: true, requeued: 1 });
  });

  it('many sweeps of two versions at once take each expired row back once', async () => {
    const { leases } = await held(30);
    await age(pool);
    const reports = await Promise.all(Array.from({ length: 6 }, (_, n) => sweep(pool, { ...sweepOptions, version: `v${n % 2}` })));
    expect(reports.reduce((sum, report) => sum + report.requeued, 0)).toBe(30);
    for (const lease of leases) expect(await itemRow(pool, lease.id)).toMatchObject({ state: 'queued', lost_leases: 1 });
    await expectSound(pool);
  });

  it('without their lock two sweeps of one row still charge it once', async () => {
    const { lease } = await held();
    await age(pool);
    const first = await openTransaction(pool);
    await sweepExpired(first, parseItems, 10);
    expect((await sweepExpired(pool, parseItems, 10)).requeued).toEqual([]);
    await first.commit();
    expect((await sweepExpired(pool, parseItems, 10)).requeued).toEqual([]);
    expect(await itemRow(pool, lease.id)).toMatchObject({ lost_leases: 1 });
  });

  it('a sweep that has nothing to do touches no live lease', async () => {
    const { lease } = await held();
    const before = await itemRow(pool, lease.id);
    await sweep(pool, sweepOptions);
    expect((await itemRow(pool, lease.id)).version).toBe(before.version);
  });
});

describe('reconcile against settle', () => {
  it('does not correct a parent whose child is ending just now', async () => {
    const { lease, jobId } = await held();
    const settling = await openTransaction(pool);
    await settling.query('select 1 from parse_jobs where id = $1 for key share', [jobId]);
    await settle(settling, parseItems, alice, [succeed(lease)]);
    expect(await reconcileParents(pool, parseJobs)).toEqual([]);
    await settling.commit();
    expect(await reconcileParents(pool, parseJobs)).toEqual([]);
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'queued', open_children: 0, succeeded_children: 1 });
  });

  it('repairs a counter that someone broke, and closes a parent that nobody can close any more', async () => {
    const { lease, jobId } = await held();
    await pool.query('update parse_jobs set open_children = 5 where id = $1', [jobId]);
    await settle(pool, parseItems, alice, [succeed(lease)]);
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'awaiting', open_children: 4 });
    expect(await sweep(pool, sweepOptions)).toMatchObject({ reconciled: 1 });
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'queued', open_children: 0, succeeded_children: 1 });
    await expectSound(pool);
  });
});
