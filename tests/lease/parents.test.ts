import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import type { Verb } from '../../server/lease/ending.js';
import type { Lease } from '../../server/lease/lease.js';
import { parseItems } from '../../server/lease/queues.js';
import { settle } from '../../server/lease/settle.js';
import { inTransaction } from '../../server/db/connection.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { alice, bob, clear, events, expectSound, jobRow, newJob } from './world.js';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = database.createPool({ max: 8 });
});

const ending = (lease: Lease, verb: Verb = 'succeed') => ({ id: lease.id, token: lease.token, verb, code: 'damaged_pdf', message: 'It is damaged.' });
const ROUNDS = 200;

/** All of `count` jobs with their items held by alice, by job. */
async function heldJobs(count: number, items: number): Promise<Map<string, Lease[]>> {
  await clear(pool);
  const jobs = await inTransaction(pool, async (tx) => {
    const made: string[] = [];
    for (let n = 0; n < count; n++) made.push((await newJob(tx, items)).jobId);
    return made;
  });
  const byJob = new Map<string, Lease[]>(jobs.map((id) => [id, []]));
  for (const lease of await acquire(pool, parseItems, alice, count * items)) byJob.get(lease.row.job_id as string)!.push(lease);
  return byJob;
}

async function states(): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ state: string; n: number }>('select state, count(*)::int as n from parse_jobs group by state');
  return Object.fromEntries(rows.map((row) => [row.state, row.n]));
}

describe('a parent', () => {
  it(`is closed by two children that settle at once, ${ROUNDS} of ${ROUNDS}`, async () => {
    for (const [first, second] of (await heldJobs(ROUNDS, 2)).values()) {
      await Promise.all([settle(pool, parseItems, alice, [ending(first!)]), settle(pool, parseItems, bob, [ending(second!)])]);
    }
    expect(await states()).toEqual({ queued: ROUNDS });
    await expectSound(pool);
  });

  it(`is closed when batches that share many parents in different orders settle at once`, async () => {
    const jobs = [...(await heldJobs(ROUNDS, 4)).values()];
    const batches = [0, 1, 2, 3].map((n) => jobs.map((leases) => ending(leases[n]!, n === 3 ? 'succeed' : 'fail')));
    await Promise.all(batches.map((batch, n) => settle(pool, parseItems, alice, n % 2 === 0 ? batch : batch.reverse())));
    expect(await states()).toEqual({ queued: ROUNDS });
    const { rows } = await pool.query('select distinct open_children, succeeded_children from parse_jobs');
    expect(rows).toEqual([{ open_children: 0, succeeded_children: 1 }]);
    await expectSound(pool);
  });

  it('becomes claimable once, with one event, and wakes nobody before its last child has ended', async () => {
    const [[jobId, [first, second]]] = [...await heldJobs(1, 2)] as [[string, [Lease, Lease]]];
    await settle(pool, parseItems, alice, [ending(first)]);
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'awaiting', open_children: 1, succeeded_children: 1 });
    await settle(pool, parseItems, alice, [ending(second, 'fail')]);
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'queued', open_children: 0, succeeded_children: 1, error_code: null });
    expect((await events(pool, jobId)).map((event) => [event.cause, event.from_state, event.to_state])).toEqual([['enqueue', null, 'awaiting'], ['children', 'awaiting', 'queued']]);
  });

  it('fails with a code of its own when none of its children succeeded', async () => {
    const [[jobId, leases]] = [...await heldJobs(1, 3)] as [[string, Lease[]]];
    await settle(pool, parseItems, alice, leases.map((lease) => ending(lease, 'fail')));
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'failed', open_children: 0, succeeded_children: 0, error_code: 'no_item_succeeded' });
    expect((await events(pool, jobId)).at(-1)).toMatchObject({ cause: 'children', from_state: 'awaiting', to_state: 'failed' });
    await expectSound(pool);
  });

  it('that someone ended by hand is not opened again by its last child', async () => {
    const [[jobId, leases]] = [...await heldJobs(1, 1)] as [[string, Lease[]]];
    await pool.query(`update parse_jobs set state = 'cancelled', finished_at = now() where id = $1`, [jobId]);
    await settle(pool, parseItems, alice, leases.map((lease) => ending(lease)));
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'cancelled', open_children: 0, succeeded_children: 1 });
    expect((await events(pool, jobId)).map((event) => event.cause)).toEqual(['enqueue']);
    await expectSound(pool);
  });

  it('keeps waiting while a child only goes back to queued', async () => {
    const [[jobId, leases]] = [...await heldJobs(1, 3)] as [[string, Lease[]]];
    await settle(pool, parseItems, alice, [ending(leases[0]!, 'drain'), ending(leases[1]!, 'retry'), ending(leases[2]!, 'outage')]);
    expect(await jobRow(pool, jobId)).toMatchObject({ state: 'awaiting', open_children: 3 });
    await expectSound(pool);
  });
});
