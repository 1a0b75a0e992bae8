import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import { parseItems } from '../../server/lease/queues.js';
import { sweep } from '../../server/lease/sweep.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { age, alice, clear, expectSound, itemRow, jobRow, newJob, openTransaction, someoneWaits, sweepOptions, undoOpen } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(() => clear(database.pool));
afterEach(undoOpen);

describe('a sweep', () => {
  it('takes back more than a batch of expired leases, of every queue, in one run', async () => {
    await newJob(database.pool);
    await database.pool.query(`insert into parse_items (id, job_id, user_id, session_id, filename, byte_size, content_sha256, file_bytes, state)
      select gen_random_uuid(), job_id, user_id, session_id, filename, byte_size, content_sha256, file_bytes, 'queued' from parse_items, generate_series(1, 1100)`);
    await database.pool.query('update parse_jobs set open_children = 1101, total_children = 1101');
    expect(await acquire(database.pool, parseItems, alice, 2000)).toHaveLength(1101);
    await age(database.pool);
    expect(await sweep(database.pool, sweepOptions)).toMatchObject({ ran: true, requeued: 1101, failed: 0 });
    await expectSound(database.pool);
  });

  it('records that it ran, who ran it and what it found', async () => {
    await newJob(database.pool);
    await acquire(database.pool, parseItems, alice, 1);
    await age(database.pool);
    await sweep(database.pool, sweepOptions);
    const { rows } = await database.pool.query('select *, now() - last_run_at < interval \'5 seconds\' as recent from sweeps');
    expect(rows).toMatchObject([{ recent: true, last_worker_id: 'w-sweeper', last_version: 'v1', last_requeued: 1, last_failed: 0, interval_seconds: '30' }]);
  });

  it('kicks with low for what it put back, once it is there, and names every row it changed', async () => {
    const { jobId, itemIds } = await newJob(database.pool, 2);
    await acquire(database.pool, parseItems, alice, 1);
    await database.pool.query(`update parse_items set lost_leases = 9 where state = 'running'`);
    await acquire(database.pool, parseItems, alice, 1);
    await age(database.pool);
    const heard: string[] = [];
    const listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    listener.on('notification', (note) => heard.push(note.payload!));
    await listener.query('listen leaseboard_kick');
    const report = await sweep(database.pool, sweepOptions);
    expect(report).toMatchObject({ requeued: 1, failed: 1 });
    expect(report.changed).toEqual([{ table: 'parse_items', ids: [itemIds[1], itemIds[0]] }, { table: 'parse_jobs', ids: [jobId] }]);
    await until(() => heard.length > 0);
    expect(heard[0]).toBe('{"q":"parse_items","low":true}');
    await listener.end();
  });

  it('does not hold the parents of one step while it waits for those of the next', async () => {
    // The first job's item is poison; the second's has outlived its bytes. A settle may hold the second parent while it waits for the first.
    const [second, first] = [await newJob(database.pool), await newJob(database.pool)]; // ids ascending: the poisoned job has the higher id
    await database.pool.query(`update parse_items set run_after = now() + interval '1 hour' where id = $1`, [second.itemIds[0]]);
    await acquire(database.pool, parseItems, alice, 1);
    await age(database.pool);
    await database.pool.query('update queue_clocks set ran_seconds = ran_seconds + 100000');
    const settling = await openTransaction(database.pool);
    await settling.query('select 1 from parse_jobs where id = $1 for update', [second.jobId]);
    const sweeping = sweep(database.pool, { ...sweepOptions, maxLostLeases: 1 });
    await until(() => someoneWaits(database.pool));
    await settling.query(`set local lock_timeout = '500ms'`);
    await settling.query('select 1 from parse_jobs where id = $1 for update', [first.jobId]);
    await settling.commit();
    expect(await sweeping).toMatchObject({ failed: 1, expired: 1 });
    expect(await itemRow(database.pool, first.itemIds[0]!)).toMatchObject({ error_code: 'worker_lost' });
    expect(await jobRow(database.pool, second.jobId)).toMatchObject({ state: 'failed' });
    await expectSound(database.pool);
  });

  it('leaves a parent that is being worked on, or has ended, alone whatever its counter says', async () => {
    const [running, ended] = [await newJob(database.pool), await newJob(database.pool)];
    await database.pool.query(`update parse_jobs set state = 'running', lease_token = 1, worker_id = 'w', claimed_at = now(), heartbeat_at = now(), lease_expires_at = now() + interval '1 minute', open_children = 0 where id = $1`, [running.jobId]);
    await database.pool.query(`update parse_jobs set state = 'cancelled', finished_at = now(), open_children = 0 where id = $1`, [ended.jobId]);
    expect(await sweep(database.pool, sweepOptions)).toMatchObject({ reconciled: 0 });
    expect(await jobRow(database.pool, running.jobId)).toMatchObject({ state: 'running', open_children: 0, token: '1' });
    expect(await jobRow(database.pool, ended.jobId)).toMatchObject({ state: 'cancelled', open_children: 0 });
  });

  it('repairs more broken parents than a batch', async () => {
    await database.pool.query(`insert into parse_jobs (id, user_id, session_id, open_children, total_children, state)
      select gen_random_uuid(), 'user-' || n, 's', 1, 1, 'awaiting' from generate_series(1, 450) as n`);
    expect(await sweep(database.pool, sweepOptions)).toMatchObject({ reconciled: 450 });
    await expectSound(database.pool);
  });
});
