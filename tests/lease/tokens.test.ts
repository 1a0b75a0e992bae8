import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../server/db/connection.js';
import { acquire } from '../../server/lease/acquire.js';
import { cancel } from '../../server/lease/cancel.js';
import type { Verb } from '../../server/lease/ending.js';
import { LeaseLostError } from '../../server/lease/errors.js';
import { fence } from '../../server/lease/fence.js';
import type { Lease } from '../../server/lease/lease.js';
import { pump } from '../../server/lease/pump.js';
import { parseItems, parseJobs, queues, type QueueDefinition } from '../../server/lease/queues.js';
import { giveBackUnknown } from '../../server/lease/release.js';
import { renew } from '../../server/lease/renew.js';
import { settle, succeedWithin } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { age, alice, bob, causes, clear, events, expectSound, itemRow, jobRow, newJob, sweepOptions } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(() => clear(database.pool));

const GIVE_BACKS = ['drain', 'unstarted'] as const satisfies Verb[];
const ENDS: Verb[] = ['succeed', 'fail', 'retry', 'outage'];
const VERBS: Verb[] = [...ENDS, ...GIVE_BACKS];
const ending = (lease: Lease, verb: Verb) => ({ id: lease.id, token: lease.token, verb, code: 'internal', message: 'It went wrong.', delayMs: 0 });

/** Alice held the row, lost it to silence, and the same Alice holds it again. */
async function reclaimedByItself(): Promise<{ old: Lease; current: Lease; jobId: string }> {
  const { jobId } = await newJob(database.pool);
  const [old] = await acquire(database.pool, parseItems, alice, 1);
  await age(database.pool);
  await sweep(database.pool, sweepOptions);
  const [current] = await acquire(database.pool, parseItems, alice, 1);
  return { old: old!, current: current!, jobId };
}

describe('an old token of the same worker', () => {
  it('is followed by a greater one', async () => {
    const { old, current } = await reclaimedByItself();
    expect([old.id, old.token, current.token]).toEqual([current.id, '1', '2']);
    expect(current).toMatchObject({ attempt: 0, lostLeases: 1 });
  });

  it.each(VERBS)('cannot %s: no row, a late write in the log, the row untouched', async (verb) => {
    const { old, current, jobId } = await reclaimedByItself();
    const before = await itemRow(database.pool, current.id);
    expect(await settle(database.pool, parseItems, alice, [ending(old, verb)])).toEqual(new Map([[old.id, 'lost']]));
    expect({ ...await itemRow(database.pool, current.id), expires_in: 0, wait: 0 }).toEqual({ ...before, expires_in: 0, wait: 0 });
    expect((await events(database.pool, old.id)).at(-1)).toMatchObject({ cause: 'late_write', worker_id: 'w-alice', worker_version: 'v1', lease_token: '1', to_state: null });
    expect(await jobRow(database.pool, jobId)).toMatchObject({ open_children: 1 });
    await expectSound(database.pool);
  });

  it('cannot beat', async () => {
    const { old, current } = await reclaimedByItself();
    const before = await itemRow(database.pool, current.id);
    expect((await renew(database.pool, [{ queue: 'parse_items', id: old.id, token: old.token, progress: { done: 1, total: 2 } }], 60)).get(`parse_items/${old.id}`)).toBe('gone');
    expect(await itemRow(database.pool, current.id)).toMatchObject({ version: before.version, done: null });
  });

  it('does not pass the fence, and what follows the fence in its transaction is undone', async () => {
    const { old, current } = await reclaimedByItself();
    await expect(inTransaction(database.pool, async (tx) => {
      await tx.query('update parse_jobs set session_id = $1', ['written before the fence']);
      await fence(tx, old);
    })).rejects.toThrow(LeaseLostError);
    const { rows } = await database.pool.query('select session_id from parse_jobs');
    expect(rows).toEqual([{ session_id: 'session-1' }]);
    await inTransaction(database.pool, (tx) => fence(tx, current));
  });

  it('cannot settle with writes of its own', async () => {
    const { old, current } = await reclaimedByItself();
    let applied = false;
    await expect(inTransaction(database.pool, (tx) => succeedWithin(tx, parseItems, alice, old, { set: { page_count: 7 }, apply: async () => { applied = true; } }))).rejects.toThrow(LeaseLostError);
    expect(applied).toBe(false);
    expect(await itemRow(database.pool, current.id)).toMatchObject({ state: 'running' });
    const { rows } = await database.pool.query('select page_count from parse_items');
    expect(rows).toEqual([{ page_count: null }]);
  });

  it.each([['fail', 'succeed'], ['succeed', 'succeed']] as const)('is told apart from the current one when both end in one batch (%s, %s), in either order', async (oldVerb, verb) => {
    for (const order of ['old first', 'current first']) {
      await clear(database.pool);
      const { old, current } = await reclaimedByItself();
      const endings = [ending(old, oldVerb), ending(current, verb)];
      const result = await pump(database.pool, parseItems, alice, { endings: order === 'old first' ? endings : endings.reverse(), claim: 0 });
      expect([order, result.ended]).toEqual([order, [{ id: current.id, token: '2', state: 'succeeded' }]]);
      expect(result.missed).toMatchObject([{ token: '1' }]);
    }
  });
});

describe('an old token on a row without a parent', () => {
  async function reclaimedJob() {
    await newJob(database.pool);
    const [item] = await acquire(database.pool, parseItems, alice, 1);
    await settle(database.pool, parseItems, alice, [ending(item!, 'succeed')]);
    const [old] = await acquire(database.pool, parseJobs, alice, 1);
    await age(database.pool);
    await sweep(database.pool, sweepOptions);
    const [current] = await acquire(database.pool, parseJobs, alice, 1);
    return { old: old!, current: current! };
  }

  it.each(VERBS)('cannot %s', async (verb) => {
    const { old, current } = await reclaimedJob();
    expect(await settle(database.pool, parseJobs, alice, [ending(old, verb)])).toEqual(new Map([[old.id, 'lost']]));
    expect(await jobRow(database.pool, old.id)).toMatchObject({ state: 'running', token: current.token, attempt: 0 });
  });

  it.each(VERBS)('cannot %s after the row has gone back to queued or has ended', async (verb) => {
    const { current } = await reclaimedJob();
    await age(database.pool);
    await sweep(database.pool, sweepOptions);
    expect((await settle(database.pool, parseJobs, alice, [ending(current, verb)])).get(current.id)).toBe('lost');
    expect(await jobRow(database.pool, current.id)).toMatchObject({ state: 'queued' });
    await inTransaction(database.pool, (tx) => cancel(tx, parseJobs, [current.id], 'No longer wanted.'));
    if (ENDS.includes(verb)) expect((await settle(database.pool, parseJobs, alice, [ending(current, verb)])).get(current.id)).toBe('lost');
    expect(await jobRow(database.pool, current.id)).toMatchObject({ state: 'cancelled' });
  });
});

describe('a settle whose answer was lost', () => {
  it.each(VERBS)('is recognised when %s is sent again', async (verb) => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    expect((await settle(database.pool, parseItems, alice, [ending(lease!, verb)])).get(lease!.id)).toBe('settled');
    const before = await itemRow(database.pool, lease!.id);
    expect((await settle(database.pool, parseItems, alice, [ending(lease!, verb)])).get(lease!.id)).toBe('already');
    expect((await itemRow(database.pool, lease!.id)).version).toBe(before.version);
    expect(await causes(database.pool, lease!.id)).not.toContain('late_write');
  });

  it.each(['retry', 'outage'] as const)('is recognised for %s although another worker has taken the row meanwhile', async (verb) => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await settle(database.pool, parseItems, alice, [ending(lease!, verb)]);
    const [next] = await acquire(database.pool, parseItems, bob, 1);
    expect(next).toMatchObject({ id: lease!.id, token: '2' });
    expect((await settle(database.pool, parseItems, alice, [ending(lease!, verb)])).get(lease!.id)).toBe('already');
    expect(await causes(database.pool, lease!.id)).not.toContain('late_write');
  });

  it.each(['retry', 'outage', ...GIVE_BACKS] as const)('is not confused with a sweep that put the row back: %s is late', async (verb) => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await age(database.pool);
    await sweep(database.pool, sweepOptions);
    expect((await settle(database.pool, parseItems, alice, [ending(lease!, verb)])).get(lease!.id)).toBe('lost');
    expect(await causes(database.pool, lease!.id)).toEqual(['enqueue', 'acquire', 'sweep', 'late_write']);
  });

  it('is not confused with a row that the sweep has failed as poison', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await age(database.pool);
    await sweep(database.pool, { ...sweepOptions, maxLostLeases: 1 });
    expect((await settle(database.pool, parseItems, alice, [ending(lease!, 'fail')])).get(lease!.id)).toBe('lost');
    expect(await itemRow(database.pool, lease!.id)).toMatchObject({ error_code: 'worker_lost' });
  });

  it('is not confused with the end that the next holder gave the row', async () => {
    const { old, current } = await reclaimedByItself();
    await settle(database.pool, parseItems, alice, [ending(current, 'succeed')]);
    expect((await settle(database.pool, parseItems, alice, [ending(old, 'succeed')])).get(old.id)).toBe('lost');
    expect(await causes(database.pool, old.id)).toEqual(['enqueue', 'acquire', 'sweep', 'acquire', 'succeed', 'late_write']);
  });

  it('is recognised for a give-back that comes after the lease had its own end', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await settle(database.pool, parseItems, alice, [ending(lease!, 'succeed')]);
    expect((await settle(database.pool, parseItems, alice, [ending(lease!, 'drain')])).get(lease!.id)).toBe('already');
  });

  it('is recognised for either give-back after the other: a row that was not started is given back by the drain as well', async () => {
    for (const [first, second] of [['unstarted', 'drain'], ['drain', 'unstarted']] as const) {
      await clear(database.pool);
      await newJob(database.pool);
      const [lease] = await acquire(database.pool, parseItems, alice, 1);
      await settle(database.pool, parseItems, alice, [ending(lease!, first)]);
      expect((await settle(database.pool, parseItems, alice, [ending(lease!, second)])).get(lease!.id)).toBe('already');
      expect(await causes(database.pool, lease!.id)).toEqual(['enqueue', 'acquire', first]);
    }
  });
});

describe('a token', () => {
  it('stays on the terminal row and grows over every way back to queued', async () => {
    const { itemIds } = await newJob(database.pool);
    const tokens: string[] = [];
    for (const verb of ['drain', 'retry', 'outage', 'succeed'] as const) {
      const [lease] = await acquire(database.pool, parseItems, alice, 1);
      tokens.push(lease!.token);
      await settle(database.pool, parseItems, alice, [ending(lease!, verb)]);
    }
    expect(tokens).toEqual(['1', '2', '3', '4']);
    expect(await itemRow(database.pool, itemIds[0]!)).toMatchObject({ state: 'succeeded', token: '4', bytes: false });
  });

  it('of a cancelled row opens nothing', async () => {
    const { jobId } = await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await inTransaction(database.pool, (tx) => cancel(tx, parseJobs, [jobId], 'No longer wanted.'));
    for (const verb of ENDS) {
      expect((await settle(database.pool, parseItems, alice, [ending(lease!, verb)])).get(lease!.id)).toBe('lost');
    }
    await expect(inTransaction(database.pool, (tx) => fence(tx, lease!))).rejects.toThrow(LeaseLostError);
    expect(await itemRow(database.pool, lease!.id)).toMatchObject({ state: 'cancelled', error_code: 'cancelled' });
    await expectSound(database.pool);
  });

  it('larger than a float can hold passes through unharmed', async () => {
    await newJob(database.pool);
    await database.pool.query(`update parse_items set lease_token = 9007199254740993`);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    expect(lease!.token).toBe('9007199254740994');
    expect((await settle(database.pool, parseItems, alice, [{ ...ending(lease!, 'succeed'), token: '9007199254740993' }])).get(lease!.id)).toBe('lost');
    expect((await settle(database.pool, parseItems, alice, [ending(lease!, 'succeed')])).get(lease!.id)).toBe('settled');
  });
});

describe('giving back what nobody knows of', () => {
  it('takes only rows of this process that are not in its set, charges nothing and says why', async () => {
    await newJob(database.pool, 3);
    const mine = await acquire(database.pool, parseItems, alice, 2);
    const [others] = await acquire(database.pool, parseItems, bob, 1);
    expect(await giveBackUnknown(database.pool, parseItems, alice, [mine[0]!.id])).toEqual([mine[1]!.id]);
    expect(await itemRow(database.pool, mine[1]!.id)).toMatchObject({ state: 'queued', attempt: 0, lost_leases: 0, token: '1' });
    expect(await itemRow(database.pool, others!.id)).toMatchObject({ state: 'running', worker_id: 'w-bob' });
    expect(await causes(database.pool, mine[1]!.id)).toEqual(['enqueue', 'acquire', 'answer_lost']);
    await expectSound(database.pool);
  });
});

describe('a settle with writes of its own', () => {
  it('writes the handler\'s rows, its columns and the end together, and closes the parent', async () => {
    const { jobId } = await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    const result = await inTransaction(database.pool, (tx) => succeedWithin(tx, parseItems, alice, lease!, {
      set: { page_count: 7, quality: 'good' },
      apply: async (inner) => { await inner.query('update parse_jobs set user_email = $1', ['a@example.org']); },
    }));
    expect(result.parents).toEqual([{ id: jobId, state: 'queued' }]);
    const { rows } = await database.pool.query('select i.page_count, i.quality, i.state, j.user_email from parse_items i join parse_jobs j on j.id = i.job_id');
    expect(rows).toEqual([{ page_count: 7, quality: 'good', state: 'succeeded', user_email: 'a@example.org' }]);
    await expectSound(database.pool);
  });

  it('is undone whole when the handler\'s write fails', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await expect(inTransaction(database.pool, (tx) => succeedWithin(tx, parseItems, alice, lease!, {
      set: { page_count: 7 }, apply: async (inner) => { await inner.query('select 1 / 0'); },
    }))).rejects.toThrow(/division by zero/);
    expect(await itemRow(database.pool, lease!.id)).toMatchObject({ state: 'running', token: '1', bytes: true });
  });

  it('works for queues that only another registry declares', async () => {
    await database.pool.query('drop table if exists other_rows; create table other_rows (like parse_items including all)');
    const other: QueueDefinition = { ...parseItems, table: 'other_rows', slug: 'other-rows', parent: undefined as never };
    await newJob(database.pool);
    await database.pool.query('insert into other_rows select * from parse_items');
    const registry = [...queues, other];
    const [lease] = await acquire(database.pool, other, alice, 1, registry);
    await inTransaction(database.pool, (tx) => succeedWithin(tx, other, alice, lease!, { set: { page_count: 1 } }, registry));
    const { rows } = await database.pool.query('select state from other_rows');
    expect(rows).toEqual([{ state: 'succeeded' }]);
  });
});
