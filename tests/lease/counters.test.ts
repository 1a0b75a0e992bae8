import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import { outageDelayMs, retryDelayMs } from '../../server/lease/backoff.js';
import { parseItems } from '../../server/lease/queues.js';
import { settle } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { age, alice, bob, causes, clear, events, expectSound, itemRow, jobRow, newJob, sweepOptions } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(() => clear(database.pool));

async function take() {
  const [lease] = await acquire(database.pool, parseItems, alice, 1);
  return lease!;
}

async function end(verb: 'succeed' | 'fail' | 'retry' | 'outage' | 'drain', code = 'parser_crashed', delayMs = 0) {
  const lease = await take();
  await settle(database.pool, parseItems, alice, [{ id: lease.id, token: lease.token, verb, code, message: `It ended with ${code}.`, delayMs }]);
  return itemRow(database.pool, lease.id);
}

/** Its worker dies in the middle of it: silence, then the sweep. */
async function loseWorker() {
  const lease = await take();
  await age(database.pool, [lease.id]);
  await sweep(database.pool, sweepOptions);
  return itemRow(database.pool, lease.id);
}

describe('failures of its own', () => {
  it('put a row back twice and fail it the third time, with that error, its bytes erased and its parent told', async () => {
    const { jobId, itemIds } = await newJob(database.pool);
    expect(await end('retry', 'internal')).toMatchObject({ state: 'queued', attempt: 1, bytes: true, error_code: 'internal' });
    expect(await end('retry', 'took_too_long')).toMatchObject({ state: 'queued', attempt: 2 });
    expect(await end('retry', 'parser_crashed')).toMatchObject({ state: 'failed', attempt: 3, bytes: false, error_code: 'parser_crashed', error_message: 'It ended with parser_crashed.' });
    expect(await jobRow(database.pool, jobId)).toMatchObject({ state: 'failed', open_children: 0 });
    expect(await causes(database.pool, itemIds[0]!)).toEqual(['enqueue', 'acquire', 'retry', 'acquire', 'retry', 'acquire', 'fail']);
    await expectSound(database.pool);
  });

  it('leave neighbours alone', async () => {
    const { itemIds } = await newJob(database.pool, 3);
    for (let n = 0; n < 3; n++) {
      const leases = await acquire(database.pool, parseItems, alice, 3);
      await settle(database.pool, parseItems, alice, leases.map((lease) => ({ id: lease.id, token: lease.token, verb: lease.id === itemIds[1] ? 'retry' as const : 'succeed' as const, code: 'parser_crashed', delayMs: 0 })));
    }
    expect(await Promise.all(itemIds.map(async (id) => (await itemRow(database.pool, id)).state))).toEqual(['succeeded', 'failed', 'succeeded']);
  });

  it('that are permanent end the row at once', async () => {
    await newJob(database.pool);
    expect(await end('fail', 'password_required')).toMatchObject({ state: 'failed', attempt: 1, bytes: false, error_code: 'password_required' });
    await expectSound(database.pool);
  });

  it('are forgotten by a success', async () => {
    await newJob(database.pool);
    await end('retry');
    expect(await end('succeed')).toMatchObject({ state: 'succeeded', error_code: null, error_message: null });
  });

  it('make the row wait as long as was asked, on the database\'s clock', async () => {
    await newJob(database.pool);
    const row = await end('retry', 'internal', 90_000);
    expect(row.wait).toBeGreaterThan(80);
    expect(row.wait).toBeLessThan(91);
    expect(await acquire(database.pool, parseItems, alice, 1)).toEqual([]);
  });
});

describe('lost workers', () => {
  it('three times in the middle of an innocent item do not fail it', async () => {
    await newJob(database.pool);
    for (let n = 1; n <= 3; n++) expect(await loseWorker()).toMatchObject({ state: 'queued', attempt: 0, lost_leases: n, bytes: true });
    expect(await end('succeed')).toMatchObject({ state: 'succeeded', attempt: 0, lost_leases: 3 });
    await expectSound(database.pool);
  });

  it('ten times make it poison: failed as worker_lost, bytes erased, parent told', async () => {
    const { jobId, itemIds } = await newJob(database.pool);
    for (let n = 1; n < 10; n++) expect(await loseWorker()).toMatchObject({ state: 'queued', lost_leases: n });
    const row = await loseWorker();
    expect(row).toMatchObject({ state: 'failed', lost_leases: 10, attempt: 0, error_code: 'worker_lost', bytes: false });
    expect(row.error_message).toMatch(/10 leases lost/);
    expect(await jobRow(database.pool, jobId)).toMatchObject({ state: 'failed' });
    expect((await events(database.pool, itemIds[0]!)).at(-1)).toMatchObject({ cause: 'poison', worker_id: 'w-alice', lease_token: '10', to_state: 'failed', error_code: 'worker_lost' });
    await expectSound(database.pool);
  });

  it('keep the row at the front of the queue', async () => {
    const { itemIds } = await newJob(database.pool, 2);
    await loseWorker();
    expect((await take()).id).toBe(itemIds[0]);
  });

  it('of a lease longer ago than a 32-bit count of milliseconds are swept as well', async () => {
    await newJob(database.pool);
    await take();
    await database.pool.query(`update parse_items set claimed_at = now() - interval '90 days', lease_expires_at = now() - interval '80 days'`);
    expect(await sweep(database.pool, sweepOptions)).toMatchObject({ requeued: 1 });
  });
});

describe('what charges nothing', () => {
  it('a drain: neither counter, same place in the queue, for anyone to take', async () => {
    const { itemIds } = await newJob(database.pool, 2);
    expect(await end('drain')).toMatchObject({ state: 'queued', attempt: 0, lost_leases: 0, error_code: null });
    expect((await acquire(database.pool, parseItems, bob, 1))[0]).toMatchObject({ id: itemIds[0], token: '2' });
    expect(await causes(database.pool, itemIds[0]!)).toEqual(['enqueue', 'acquire', 'drain', 'acquire']);
  });

  it('an outage outside, however often', async () => {
    await newJob(database.pool);
    for (let n = 0; n < 5; n++) expect(await end('outage', 'embeddings_unavailable')).toMatchObject({ state: 'queued', attempt: 0, lost_leases: 0, error_code: 'embeddings_unavailable' });
    expect(await end('succeed')).toMatchObject({ state: 'succeeded', error_code: null });
  });
});

describe('backoff', () => {
  it('doubles from one second to a minute, half of it random', () => {
    const [least, most] = [0, 0.999999].map((random) => [0, 1, 2, 3, 10, 1000].map((failures) => Math.round(retryDelayMs(failures, random) / 500)));
    expect(least).toEqual([1, 2, 4, 8, 60, 60]);
    expect(most).toEqual([2, 4, 8, 16, 120, 120]);
  });

  it('waits for a service at least as long as it asks for, and never longer than five minutes', () => {
    expect(outageDelayMs(0, undefined, 0)).toBe(2_500);
    expect(outageDelayMs(0, 45_000, 0)).toBe(45_000);
    expect(outageDelayMs(0, 3_600_000, 0)).toBe(300_000);
    expect(outageDelayMs(50, undefined, 0.999999)).toBeLessThanOrEqual(300_000);
  });
});
