import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jobCitations, deployments } from '../../server/lease/queues.js';
import { Pace } from '../../server/worker/ahead.js';
import { Held } from '../../server/worker/held.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { causes } from '../lease/world.js';
import { add, broken, Gate, otherRows, startWorker, stateCounts, stopAll, testRows, workerDatabase } from './world.js';

const held = () => new Held({ queue: 'test_rows', id: 'a', token: '1', kind: 'test', attempt: 0, lostLeases: 0, row: {} }, 0);

/** `runs` of `ms` each, one after the other, from `from` on. @returns when the last has ended. */
function run(pace: Pace, runs: number, ms: number, from: number): number {
  for (let n = 0; n < runs; n++) {
    const one = held();
    pace.started(one, from + n * ms);
    pace.ended(one, from + (n + 1) * ms);
  }
  return from + runs * ms;
}

/** Claims that each got all they asked for. */
const full = (pace: Pace, ...asked: number[]) => asked.forEach((n) => pace.claimed(n, n, n));

describe('how many rows are claimed ahead', () => {
  it('is none before the handlers have proved quick, then doubles with each full claim up to a thousand', () => {
    const pace = new Pace(testRows);
    full(pace, 24, 24);
    const early = run(pace, 8, 0.1, 0);
    expect(pace.ahead(early)).toBe(0);
    const later = run(pace, 90, 0.1, early);
    expect(pace.ahead(later)).toBe(48);
    full(pace, 24, 24);
    expect(pace.ahead(later)).toBe(192);
    full(pace, 24);
    expect(pace.ahead(later)).toBe(384);
    full(pace, 24, 24);
    expect(pace.ahead(run(pace, 100, 0.01, later))).toBe(1_000);
  });

  it('is at most 50 ms of work, and none where a run takes more than five', () => {
    for (const [ms, ahead] of [[0.9, 55], [4, 12], [6, 0], [1_000, 0]] as const) {
      const pace = new Pace(testRows);
      full(pace, 24, 24, 24, 24, 24, 24);
      const now = run(pace, 200, ms, 0);
      expect([ms, pace.ahead(now)]).toEqual([ms, ahead]);
    }
  });

  it('counts on the slots that work at once: 24 runs of four milliseconds together end 300 rows in 50 ms', () => {
    const pace = new Pace(testRows);
    full(pace, 24, 24, 24, 24, 24, 24);
    const going = Array.from({ length: 24 }, held);
    going.forEach((one, n) => pace.started(one, n / 6));
    for (let n = 0; n < 2_400; n++) {
      const now = 4 + n / 6;
      pace.ended(going.shift()!, now);
      const next = held();
      pace.started(next, now);
      going.push(next);
    }
    expect(pace.ahead(404)).toBeCloseTo(300, -1);
  });

  it('is none while a slow run goes on, and none after two of them', () => {
    const pace = new Pace(testRows);
    full(pace, 24, 24);
    const quick = run(pace, 100, 0.1, 0);
    expect(pace.ahead(quick)).toBeGreaterThan(0);
    const slow = held();
    pace.started(slow, quick);
    expect(pace.ahead(quick + 1)).toBeGreaterThan(0);
    expect(pace.ahead(quick + 60)).toBe(0);
    pace.ended(slow, quick + 60);
    expect(pace.ahead(run(pace, 1, 60, quick + 60))).toBe(0);
  });

  it('takes a slow run between quick ones for a pause of the process, however many slots it stopped', () => {
    const pace = new Pace(testRows);
    full(pace, 24, 24);
    const quick = run(pace, 100, 0.1, 0);
    const paused = Array.from({ length: 24 }, held);
    for (const one of paused) pace.started(one, quick);
    for (const one of paused) pace.ended(one, quick + 30);
    expect(pace.ahead(quick + 30)).toBe(48);
    expect(pace.ahead(run(pace, 1, 0.1, quick + 30))).toBe(48);
  });

  it('is none after a claim that came back short, and starts over where a row waits that has lost a lease', () => {
    const pace = new Pace(testRows);
    full(pace, 24, 24);
    const now = run(pace, 100, 0.1, 0);
    pace.claimed(72, 72, 71);
    expect(pace.ahead(now)).toBe(0);
    full(pace, 24);
    expect(pace.ahead(now)).toBe(24);
    pace.claimed(48, 24, 24);
    full(pace, 24, 24);
    expect(pace.ahead(now)).toBe(0);
  });

  it.each([jobCitations, deployments])('is none in a queue whose rows share a cap or are locks: $table', (queue) => {
    const pace = new Pace(queue);
    full(pace, 24, 24);
    expect(pace.ahead(run(pace, 100, 0.1, 0))).toBe(0);
  });
});

describe('a worker of tiny handlers', () => {
  let database: TestDatabase;
  beforeAll(async () => { database = await workerDatabase(); });
  beforeEach(() => database.pool.query('delete from test_rows; delete from other_rows; delete from queue_events; delete from workers; delete from redeploys'));
  afterEach(stopAll);

  const backlog = (count: number, table = 'test_rows') => database.pool.query(
    `insert into ${table} (id, name, state, run_after) select gen_random_uuid(), 'backlog', 'queued', now() - interval '1 minute' from generate_series(1, $1)`, [count]);
  const heldNow = async () => Number((await stateCounts(database.pool)).running ?? 0);

  it('claims ahead of its slots, runs no more handlers than it has slots, and does each row once', async () => {
    await backlog(4_000);
    const seen = new Map<string, number>();
    let [running, most, ahead] = [0, 0, 0];
    const one = await startWorker(database, {
      test_rows: async (lease) => {
        most = Math.max(most, ++running);
        ahead = Math.max(ahead, one.worker.held);
        await Promise.resolve();
        seen.set(lease.id, (seen.get(lease.id) ?? 0) + 1);
        running -= 1;
        return { succeed: true };
      },
    }, { workerConcurrency: 4, leaseSeconds: 120 });
    await until(async () => (await stateCounts(database.pool)).succeeded === 4_000, { timeoutMs: 60_000 });
    expect(most).toBe(4);
    expect(ahead).toBeGreaterThan(8);
    expect([seen.size, Math.max(...seen.values())]).toEqual([4_000, 1]);
    expect(await broken(database.pool)).toEqual([]);
  });

  it('gives back, uncharged, what it had claimed ahead when its handlers turn slow, and holds no more than its slots from then on', async () => {
    await backlog(2_000);
    const gate = new Gate();
    let [runs, closed] = [0, false];
    const one = await startWorker(database, {
      test_rows: async (lease, work) => {
        closed ||= ++runs > 200 && one.worker.held > 4;
        return closed ? gate.handler(lease, work) : { succeed: true };
      },
    }, { workerConcurrency: 2, leaseSeconds: 120, heartbeatSeconds: 30, pollSeconds: 600 });
    await gate.run(2, 30_000);
    await until(async () => await heldNow() === 2);
    const { rows } = await database.pool.query(`select row_id from queue_events where cause = 'unstarted' limit 1`);
    expect(rows).toHaveLength(1);
    expect((await causes(database.pool, rows[0].row_id)).slice(0, 2)).toEqual(['acquire', 'unstarted']);
    expect((await database.pool.query('select max(attempt) as attempt, max(lost_leases) as lost from test_rows')).rows).toEqual([{ attempt: 0, lost: 0 }]);
    expect(gate.most).toBe(2);
    expect(await broken(database.pool)).toEqual([]);
  });

  it('gives back at the start of a drain what it had claimed ahead, and finishes what has begun', async () => {
    await backlog(2_000);
    const gate = new Gate();
    let [runs, closed] = [0, false];
    let drained: Promise<void> | undefined;
    const one = await startWorker(database, {
      test_rows: async (lease, work) => {
        if (closed || ++runs <= 200 || one.worker.held <= 4) return closed ? gate.handler(lease, work) : { succeed: true };
        closed = true;
        drained = one.stop(20);
        return gate.handler(lease, work);
      },
    }, { workerConcurrency: 2, leaseSeconds: 120, heartbeatSeconds: 30, pollSeconds: 600 });
    await gate.run(1, 30_000);
    await until(async () => await heldNow() <= 2);
    for (const open of gate.runs) open.finish();
    await drained;
    expect((await database.pool.query(`select count(*)::int as n from queue_events where cause = 'drain'`)).rows[0].n).toBeGreaterThan(0);
    expect((await database.pool.query('select max(attempt) as attempt, max(lost_leases) as lost from test_rows')).rows).toEqual([{ attempt: 0, lost: 0 }]);
    expect((await stateCounts(database.pool)).running).toBeUndefined();
    expect(gate.runs.every((open) => !open.signal.aborted)).toBe(true);
    expect(await broken(database.pool)).toEqual([]);
  });

  it('does not keep another queue of its lane waiting for the end of a backlog', async () => {
    await backlog(6_000, 'other_rows');
    let done = 0;
    let doneBefore = -1;
    await startWorker(database, {
      test_rows: async () => { doneBefore = done; return { succeed: true }; },
      other_rows: async () => { done += 1; return { succeed: true }; },
    }, { workerConcurrency: 1, leaseSeconds: 120, pollSeconds: 600 });
    await until(() => done > 200);
    await add(database.pool, ['first in its lane']);
    await database.pool.query(`select pg_notify($1, '{"q":"test_rows"}')`, [database.config().kickChannel]);
    await until(() => doneBefore >= 0, { timeoutMs: 30_000 });
    expect(doneBefore).toBeLessThan(6_000);
    await until(async () => (await stateCounts(database.pool, otherRows)).succeeded === 6_000, { timeoutMs: 60_000 });
  });
});
