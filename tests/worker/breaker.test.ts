import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OutsideError } from '../../server/lease/errors.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { add, otherRows, row, startWorker, stateCounts, stopAll, workerDatabase } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await workerDatabase(); });
beforeEach(() => database.pool.query('delete from test_rows; delete from other_rows; delete from queue_events; delete from workers; delete from breakers'));
afterEach(stopAll);

const breakers = async () => (await database.pool.query('select queue, failures, reason, extract(epoch from retry_at - now())::float8 as rests from breakers')).rows;
/** The rest is over and the row due, as if the time had passed. */
const restOver = () => database.pool.query(`update breakers set retry_at = now() - interval '1 second'; update test_rows set run_after = now() - interval '1 second' where state = 'queued'`);

describe('a service outside that is down', () => {
  it('charges nothing, rests its queue and no other, is tried with one row at a time, and is forgotten with the first success', async () => {
    const ids = await add(database.pool, Array.from({ length: 6 }, (_, n) => `${n}`));
    let down = true;
    let tries = 0;
    await startWorker(database, {
      test_rows: async () => {
        tries += 1;
        if (down) throw new OutsideError('embeddings_unavailable', 'The embedding service answered 503.');
        return { succeed: true };
      },
      other_rows: async () => ({ succeed: true }),
    }, { workerConcurrency: 2, pollSeconds: 0.3 });
    await until(async () => (await breakers()).length === 1 && !(await stateCounts(database.pool)).running);
    const first = tries;
    expect(first).toBeLessThanOrEqual(2);
    expect(await breakers()).toMatchObject([{ queue: 'test_rows', reason: 'The embedding service answered 503.' }]);
    expect((await breakers())[0].rests).toBeGreaterThan(1);
    const [other] = await add(database.pool, ['elsewhere'], otherRows);
    await until(async () => (await row(database.pool, other!, otherRows)).state === 'succeeded'); // the same slots, another queue
    expect(tries).toBe(first); // four rows are due, none is taken

    await restOver();
    await until(() => tries > first);
    await until(async () => !(await stateCounts(database.pool)).running && (await breakers())[0]?.failures > 1 && (await breakers())[0]?.rests > 0);
    expect(tries).toBe(first + 1); // one on trial
    const { rows } = await database.pool.query('select max(attempt)::int as attempt, max(lost_leases)::int as lost from test_rows');
    expect(rows).toEqual([{ attempt: 0, lost: 0 }]);

    down = false;
    await restOver();
    await until(async () => (await stateCounts(database.pool)).succeeded === ids.length, { timeoutMs: 8_000 });
    expect(await breakers()).toEqual([]);
  });

  it('rests every worker, also one that has not met the outage itself', async () => {
    await database.pool.query(`insert into breakers (queue, opened_at, retry_at, failures, reason) values ('test_rows', now(), now() + interval '1 hour', 3, 'down')`);
    const tried: string[] = [];
    await startWorker(database, { test_rows: async (lease) => { tried.push(lease.id); return { succeed: true }; } }, { pollSeconds: 0.2 });
    await database.pool.query('select pg_sleep(0.5)');
    await add(database.pool, ['waits']);
    await database.pool.query('select pg_sleep(0.8)');
    expect(tried).toEqual([]);
  });

  it('is left alone for as long as it asks', async () => {
    await add(database.pool, ['limited']);
    await startWorker(database, { test_rows: async () => { throw new OutsideError('rate_limited', 'Too many requests.', { retryAfterMs: 120_000 }); } });
    await until(async () => (await breakers()).length === 1);
    expect((await breakers())[0].rests).toBeGreaterThan(110);
    await until(async () => (await stateCounts(database.pool)).queued === 1);
    const { rows } = await database.pool.query('select extract(epoch from run_after - now())::float8 as wait from test_rows');
    expect(rows[0].wait).toBeGreaterThan(110);
  });
});
