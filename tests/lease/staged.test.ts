import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import { parseItems } from '../../server/lease/queues.js';
import { settle } from '../../server/lease/settle.js';
import { expireStaged, tickStagedClock } from '../../server/lease/staged.js';
import { sweep } from '../../server/lease/sweep.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertWorker, sql } from '../support/factories.js';
import { alice, causes, clear, expectSound, itemRow, jobRow, newJob, sweepOptions } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(async () => {
  await clear(database.pool);
  await database.pool.query(`truncate workers, queue_pauses; update queue_clocks set ran_seconds = 1000, ticked_at = now()`);
});

const ran = async () => (await database.pool.query(`select ran_seconds - 1000 as ran from queue_clocks where queue = 'parse_items'`)).rows[0].ran as number;

/** A tick after `seconds` have passed since the last one. */
async function tickAfter(seconds: number): Promise<number> {
  const before = await ran();
  await database.pool.query(`update queue_clocks set ticked_at = now() - $1 * interval '1 second'`, [seconds]);
  await tickStagedClock(database.pool, parseItems, 30);
  return Math.round(await ran() - before);
}

describe('the clock of staged bytes', () => {
  it('runs while a capable worker lives', async () => {
    await insertWorker(database.pool);
    expect(await tickAfter(30)).toBe(30);
    expect(await tickAfter(10)).toBe(10);
  });

  it.each([
    ['no process at all', null],
    ['a worker of another capability', { capabilities: ['publish'] }],
    ['a worker that stopped', { stopped_at: sql('now()') }],
    ['a worker that is gone', { gone_at: sql('now()') }],
    ['a worker that fell silent and was not yet noticed', { heartbeat_at: sql(`now() - interval '100 seconds'`) }],
    ['a worker that drains', { draining_since: sql('now()'), drained_by: 'operator' }],
  ])('stands still beside %s', async (_, values) => {
    if (values) await insertWorker(database.pool, values);
    expect(await tickAfter(30)).toBe(0);
  });

  it('stands still while the queue is paused, and does not catch up afterwards', async () => {
    await insertWorker(database.pool);
    await database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('parse_items', 'someone', 'a test')`);
    expect(await tickAfter(3600)).toBe(0);
    await database.pool.query('delete from queue_pauses');
    expect(await tickAfter(5)).toBe(5);
  });

  it('stands still for a row that no live worker knows, however long others run, and goes on for it once one does', async () => {
    await insertWorker(database.pool);
    const { itemIds: [ordinary] } = await newJob(database.pool);
    const { itemIds: [newer] } = await newJob(database.pool);
    await database.pool.query('update parse_items set schema_version = 2 where id = $1', [newer]);
    const age = async (id?: string) => Math.round((await database.pool.query(`select c.ran_seconds - t.staged_clock as age from parse_items t, queue_clocks c where c.queue = 'parse_items' and t.id = $1`, [id])).rows[0].age);
    for (let round = 0; round < 3; round++) await tickAfter(30);
    expect([await age(ordinary), await age(newer)]).toEqual([90, 0]);
    await insertWorker(database.pool, { kinds: { parse_items: { pdf: 2 } } });
    await tickAfter(30);
    expect([await age(ordinary), await age(newer)]).toEqual([120, 30]);
  });

  it('does not count the time in which no sweep ran', async () => {
    await insertWorker(database.pool);
    expect(await tickAfter(86_400)).toBeLessThanOrEqual(60);
  });
});

describe('staged bytes', () => {
  it('that outlived the TTL end as blob_expired, erased, with their parent told', async () => {
    const { jobId, itemIds } = await newJob(database.pool);
    await database.pool.query('update queue_clocks set ran_seconds = ran_seconds + 21601');
    expect(await sweep(database.pool, sweepOptions)).toMatchObject({ expired: 1 });
    expect(await itemRow(database.pool, itemIds[0]!)).toMatchObject({ state: 'failed', error_code: 'blob_expired', bytes: false });
    expect(await jobRow(database.pool, jobId)).toMatchObject({ state: 'failed', open_children: 0, error_code: 'no_item_succeeded' });
    expect(await causes(database.pool, itemIds[0]!)).toEqual(['enqueue', 'expire']);
    await expectSound(database.pool);
  });

  it('are measured from when they were staged, not from when the clock began', async () => {
    await database.pool.query('update queue_clocks set ran_seconds = 1000000');
    const { itemIds } = await newJob(database.pool);
    expect(await expireStaged(database.pool, parseItems, 21_600)).toMatchObject({ expired: [] });
    await database.pool.query('update queue_clocks set ran_seconds = ran_seconds + 21600');
    expect(await expireStaged(database.pool, parseItems, 21_600)).toMatchObject({ expired: [] });
    await database.pool.query('update queue_clocks set ran_seconds = ran_seconds + 1');
    expect(await expireStaged(database.pool, parseItems, 21_600)).toMatchObject({ expired: itemIds });
  });

  it('of a row that is being worked on stay', async () => {
    await newJob(database.pool);
    const [lease] = await acquire(database.pool, parseItems, alice, 1);
    await database.pool.query('update queue_clocks set ran_seconds = ran_seconds + 100000');
    await sweep(database.pool, sweepOptions);
    expect(await itemRow(database.pool, lease!.id)).toMatchObject({ state: 'running', bytes: true });
    expect((await settle(database.pool, parseItems, alice, [{ id: lease!.id, token: lease!.token, verb: 'succeed' }])).get(lease!.id)).toBe('settled');
  });

  it('more than one batch of them are all erased by one sweep', async () => {
    await newJob(database.pool);
    await database.pool.query(`insert into parse_items (id, job_id, user_id, session_id, filename, byte_size, content_sha256, file_bytes, state)
      select gen_random_uuid(), job_id, user_id, session_id, filename, byte_size, content_sha256, file_bytes, 'queued' from parse_items, generate_series(1, 1200)`);
    await database.pool.query('update parse_jobs set open_children = 1201, total_children = 1201; update queue_clocks set ran_seconds = ran_seconds + 100000');
    expect(await sweep(database.pool, sweepOptions)).toMatchObject({ expired: 1201 });
    await expectSound(database.pool);
  });
});
