import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import { parseItems } from '../../server/lease/queues.js';
import { addHistograms, BUCKET_BOUNDS_MS, percentile, rollUpMinutes } from '../../server/lease/samples.js';
import { settle } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { age, alice, clear, newJob, sweepOptions } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
beforeEach(async () => {
  await clear(database.pool);
  await database.pool.query('truncate queue_minutes');
});

const minutes = async () => (await database.pool.query(`select *, extract(epoch from date_trunc('minute', now()) - minute)::int / 60 as ago from queue_minutes order by minute, queue`)).rows;

/** One event, `seconds` ago. */
async function event(secondsAgo: number, cause: string, values: { queue?: string; waited?: number; ran?: number; to?: string } = {}): Promise<void> {
  await database.pool.query(`insert into queue_events (at, queue, row_id, cause, to_state, waited_ms, ran_ms) values (now() - $1 * interval '1 second', $2, gen_random_uuid(), $3, $4, $5, $6)`,
    [secondsAgo, values.queue ?? 'parse_items', cause, values.to ?? null, values.waited ?? null, values.ran ?? null]);
}

/** Everything that happened so far happened `seconds` earlier. */
const shift = (seconds: number) => database.pool.query(`update queue_events set at = at - $1 * interval '1 second'`, [seconds]);

describe('the roll-up', () => {
  it('counts what the engine did, by queue and minute, and doing it again changes nothing', async () => {
    await newJob(database.pool, 4);
    const leases = await acquire(database.pool, parseItems, alice, 4);
    const end = (n: number, verb: 'succeed' | 'fail' | 'drain' | 'retry') => ({ id: leases[n]!.id, token: leases[n]!.token, verb, code: 'internal', delayMs: 60_000 });
    await age(database.pool, [leases[3]!.id]);
    await sweep(database.pool, sweepOptions);
    await settle(database.pool, parseItems, alice, [end(0, 'succeed'), end(1, 'fail'), end(2, 'drain'), end(3, 'retry')]);
    await database.pool.query('truncate queue_minutes'); // had the sweep met the end of a minute
    await shift(90);
    await rollUpMinutes(database.pool);
    const first = await minutes();
    const sum = (column: string) => first.filter((row) => row.queue === 'parse_items').reduce((total, row) => total + row[column], 0);
    expect(Object.fromEntries(['enqueued', 'acquired', 'succeeded', 'failed', 'cancelled', 'given_back', 'lost', 'late_writes'].map((column) => [column, sum(column)])))
      .toEqual({ enqueued: 4, acquired: 4, succeeded: 1, failed: 1, cancelled: 0, given_back: 1, lost: 1, late_writes: 1 });
    expect(first.map((row) => row.queue)).toContain('parse_jobs');
    await rollUpMinutes(database.pool);
    expect(await minutes()).toEqual(first);
  });

  it('leaves a minute alone until nothing can still be committed into it, and takes it up later', async () => {
    const { rows } = await database.pool.query('select extract(second from now())::float8 as second');
    const second = rows[0].second as number;
    await event(second + 1, 'enqueue'); // the last second of the minute before this one
    await event(0, 'enqueue');
    await rollUpMinutes(database.pool);
    expect((await minutes()).length).toBe(second >= 15 ? 1 : 0);
    await shift(180);
    await database.pool.query('truncate queue_minutes');
    await rollUpMinutes(database.pool);
    expect((await minutes()).reduce((sum, row) => sum + row.enqueued, 0)).toBe(2);
  });

  it('goes on where it stopped, over minutes in which nothing happened', async () => {
    await event(600, 'enqueue');
    await rollUpMinutes(database.pool);
    await event(180, 'enqueue');
    await rollUpMinutes(database.pool);
    expect((await minutes()).map((row) => row.enqueued)).toEqual([1, 1]);
  });

  it('of an empty log is empty, and what is older than two days stays in the log', async () => {
    await rollUpMinutes(database.pool);
    await event(3 * 86_400, 'enqueue');
    await rollUpMinutes(database.pool);
    expect(await minutes()).toEqual([]);
  });

  it('counts the time of every lease that came to an end, the failed ones too', async () => {
    await event(120, 'succeed', { ran: 100, to: 'succeeded' });
    await event(120, 'fail', { ran: 100, to: 'failed' });
    await event(120, 'acquire', { waited: 5 });
    await rollUpMinutes(database.pool);
    const [row] = await minutes();
    expect(row.runs.reduce((a: number, b: number) => a + b, 0)).toBe(2);
    expect(row.waits.reduce((a: number, b: number) => a + b, 0)).toBe(1);
    expect(row.waits).toHaveLength(BUCKET_BOUNDS_MS.length + 1);
  });
});

describe('a percentile of a histogram', () => {
  it('is within a bucket of the exact one, whatever the values', async () => {
    const values = Array.from({ length: 400 }, (_, n) => Math.round(Math.exp((n * 7919 % 400) / 400 * 12)));
    for (const value of values) await event(120, 'acquire', { waited: value });
    await rollUpMinutes(database.pool);
    const waits = addHistograms((await minutes()).map((row) => row.waits));
    const sorted = [...values].sort((a, b) => a - b);
    for (const q of [0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1]) {
      const exact = sorted[Math.ceil(q * sorted.length) - 1]!;
      const found = percentile(waits, q)!;
      expect(found / Math.max(exact, 1)).toBeGreaterThan(0.6);
      expect(found / Math.max(exact, 1)).toBeLessThan(1.6);
    }
  });

  it('of nothing is nothing, of one value that value\'s bucket, of a giant the last bound', () => {
    const empty = new Array<number>(BUCKET_BOUNDS_MS.length + 1).fill(0);
    expect(percentile(empty, 0.5)).toBeNull();
    expect(percentile(empty.map((_, bucket) => Number(bucket === 10)), 0.5)).toBeGreaterThanOrEqual(BUCKET_BOUNDS_MS[9]!);
    expect(percentile(empty.map((_, bucket) => Number(bucket === 10)), 0.5)).toBeLessThanOrEqual(BUCKET_BOUNDS_MS[10]!);
    expect(percentile(empty.map((_, bucket) => Number(bucket === BUCKET_BOUNDS_MS.length)), 0.5)).toBe(BUCKET_BOUNDS_MS.at(-1));
  });

  it('bounds grow, none is missing, and the largest is hours', () => {
    expect(BUCKET_BOUNDS_MS.every((bound, n) => n === 0 || bound > BUCKET_BOUNDS_MS[n - 1]!)).toBe(true);
    expect(BUCKET_BOUNDS_MS.at(-1)).toBeGreaterThan(3_600_000);
  });
});
