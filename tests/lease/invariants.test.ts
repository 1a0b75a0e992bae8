// Each invariant finds the violation that was planted for it. The database's own constraints are dropped first: they would refuse most of them.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import { parseItems } from '../../server/lease/queues.js';
import { settle } from '../../server/lease/settle.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertWorker, sql } from '../support/factories.js';
import { alice, clear, invariantSettings, newJob } from './world.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  const { rows } = await database.pool.query(`select conrelid::regclass as of, conname from pg_constraint where contype = 'c' and conrelid in ('parse_jobs'::regclass, 'parse_items'::regclass)`);
  expect(rows.length).toBeGreaterThanOrEqual(9);
  for (const { of, conname } of rows) await database.pool.query(`alter table ${of} drop constraint ${conname}`);
});
beforeEach(async () => {
  await clear(database.pool);
  await database.pool.query('truncate workers, queue_pauses, breakers');
});

const run = (text: string) => database.pool.query(text);
const broken = async () => (await checkInvariants(database.pool, invariantSettings)).map((one) => one.invariant);

/** A job with one item in each state that has one. */
async function everyState(): Promise<void> {
  await newJob(database.pool, 3);
  const leases = await acquire(database.pool, parseItems, alice, 2);
  await settle(database.pool, parseItems, alice, [{ id: leases[0]!.id, token: leases[0]!.token, verb: 'succeed' }]);
}

const waiting = `update parse_items set run_after = now() - interval '10 minutes', queued_at = now() - interval '10 minutes' where state = 'queued'`;
const oldWorker = { started_at: sql(`now() - interval '1 hour'`), slots: 2 };

describe('the invariants', () => {
  it('hold over every state the engine makes', async () => {
    await everyState();
    expect(await broken()).toEqual([]);
  });

  it.each([
    ['a running row without a worker', `update parse_items set worker_id = null where state = 'running'`, 'parse_items: running is held'],
    ['a running row without an expiry', `update parse_items set lease_expires_at = null where state = 'running'`, 'parse_items: running is held'],
    ['a running row without a heartbeat', `update parse_items set heartbeat_at = null where state = 'running'`, 'parse_items: running is held'],
    ['a running row without a token', `update parse_items set lease_token = 0 where state = 'running'`, 'parse_items: running is held'],
    ['a queued row that someone holds', `update parse_items set worker_id = 'w', heartbeat_at = now(), lease_expires_at = now() where state = 'queued'`, 'parse_items: running is held'],
    ['bytes in a terminal row', `update parse_items set file_bytes = 'x' where state = 'succeeded'`, 'parse_items: terminal'],
    ['a terminal row without an end', `update parse_items set finished_at = null where state = 'succeeded'`, 'parse_items: terminal'],
    ['a terminal row with a lease column', `update parse_items set heartbeat_at = now() where state = 'succeeded'`, 'parse_items: terminal'],
    ['an end in an open row', `update parse_items set finished_at = now() where state = 'queued'`, 'parse_items'],
    ['an open row without its bytes', `update parse_items set file_bytes = null where state = 'queued'`, 'parse_items'],
    ['more tries than allowed', `update parse_items set attempt = 4 where state = 'queued'`, 'parse_items: tries are counted'],
    ['a counter too high', `update parse_jobs set open_children = 3`, 'parse_jobs: open children'],
    ['a counter too low', `update parse_jobs set open_children = 1`, 'parse_jobs: open children'],
    ['a parent that awaits nothing', `update parse_items set state = 'failed', finished_at = now(), file_bytes = null, worker_id = null, heartbeat_at = null, lease_expires_at = null; update parse_jobs set open_children = 0`, 'parse_jobs: open children'],
    ['a parent that goes on before its children', `update parse_jobs set state = 'queued'`, 'parse_jobs: open children'],
    ['one token acquired twice', `insert into queue_events (queue, row_id, cause, lease_token) select queue, row_id, cause, lease_token from queue_events where cause = 'acquire'`, 'queue_events: a token has one holder'],
    ['a row that ended twice', `insert into queue_events (queue, row_id, cause, from_state, to_state) select queue, row_id, 'fail', 'running', 'failed' from queue_events where cause = 'succeed'`, 'queue_events: a row ends once'],
    ['too many jobs of one user', `insert into parse_jobs (id, user_id, session_id, open_children, total_children, state) select gen_random_uuid(), 'greedy', 's', 0, 0, 'queued' from generate_series(1, 4)`, 'parse_jobs: active jobs per user'],
    ['too many staged bytes of one user', `update parse_items set byte_size = 70000000`, 'parse_items: staged bytes per user'],
  ])('find %s', async (_, plant, found) => {
    await everyState();
    await run(plant);
    expect((await broken()).join('\n')).toContain(found);
  });

  it('name the rows, at most twenty, and say what should hold', async () => {
    await newJob(database.pool, 30);
    await run(`update parse_items set attempt = 9`);
    const [found] = await checkInvariants(database.pool, invariantSettings);
    expect(found!.rows).toHaveLength(20);
    expect(found!.rows[0]).toMatchObject({ attempt: 9, max_attempts: 3 });
    expect(found!.expected).toMatch(/max_attempts/);
  });
});

describe('a row that waits beside a free slot', () => {
  it('is found', async () => {
    await newJob(database.pool);
    await run(waiting);
    expect(await broken()).toEqual([]); // no worker at all
    await insertWorker(database.pool, oldWorker);
    expect(await broken()).toEqual(['parse_items: nothing waits beside a free slot']);
  });

  it.each([
    ['the queue is paused', `insert into queue_pauses (queue, paused_by, reason) values ('parse_items', 'someone', 'a test')`],
    ['its kind is unknown', `update parse_items set kind = 'epub'`],
    ['it waits only since a moment', `update parse_items set queued_at = now()`],
    ['the worker has only just started', `update workers set started_at = now()`],
    ['the worker drains', `update workers set draining_since = now(), drained_by = 'operator'`],
    ['no live worker knows its schema version, though this build does', `update workers set kinds = '{"parse_items": {"pdf": 0}}'`],
    ['the worker takes other work', `update workers set capabilities = '{publish}'`],
    ['the service it needs rests', `insert into breakers (queue, opened_at, retry_at, failures, reason) values ('parse_items', now(), now(), 1, 'a test')`],
  ])('is right to wait where %s', async (_, excuse) => {
    await newJob(database.pool);
    await run(waiting);
    await insertWorker(database.pool, oldWorker);
    await run(excuse);
    expect(await broken()).toEqual([]);
  });

  it('is right to wait while the slots are taken by rows of any queue', async () => {
    await newJob(database.pool, 2);
    const worker = await insertWorker(database.pool, oldWorker);
    await run(`insert into parse_jobs (id, user_id, session_id, open_children, total_children, state, lease_token, worker_id, heartbeat_at, lease_expires_at)
      values (gen_random_uuid(), 'u', 's', 0, 0, 'running', 1, '${worker.id}', now(), now() + interval '1 minute')`);
    await acquire(database.pool, parseItems, { ...alice, workerId: worker.id }, 1);
    await run(waiting);
    expect(await broken()).toEqual([]);
  });
});
