import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { kick } from '../../server/bus/kick.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { causes } from '../lease/world.js';
import { add, broken, Gate, row, startWorker, stopAll, testRows, workerDatabase } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await workerDatabase(); });
beforeEach(() => database.pool.query('delete from test_rows; delete from queue_events; delete from workers; delete from redeploys'));
afterEach(stopAll);

const worker = async (id: string) => (await database.pool.query('select drained_by, stopped_at, kill_deadline_at from workers where id = $1', [id])).rows[0];
const backlog = (count: number) => database.pool.query(`insert into test_rows (id, name, state, run_after, queued_at) select gen_random_uuid(), 'backlog', 'queued', now(), now() from generate_series(1, $1)`, [count]);

describe('a drain', () => {
  it('finishes what fits, claims nothing more, and says its last word', async () => {
    const [first, second] = await add(database.pool, ['first', 'second']);
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler }, { workerConcurrency: 1 });
    const run = await gate.run(1);
    const stopped = one.stop(5);
    await until(async () => (await worker(one.identity.id)).drained_by === 'shutdown');
    run.finish();
    await stopped;
    expect(await row(database.pool, first!)).toMatchObject({ state: 'succeeded' });
    expect(await row(database.pool, second!)).toMatchObject({ state: 'queued', lease_token: '0' });
    expect(await worker(one.identity.id)).toMatchObject({ stopped_at: expect.any(Date), kill_deadline_at: expect.any(Date) });
    expect(gate.runs).toHaveLength(1);
  });

  it('gives back what does not fit within its budget, uncharged, and another worker starts it within two seconds, also under a backlog', async () => {
    const [id] = await add(database.pool, ['long']);
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler }, { workerConcurrency: 1, leaseSeconds: 120, heartbeatSeconds: 30, pollSeconds: 600 });
    const run = await gate.run(1);
    await backlog(20_000);
    const next = new Gate();
    const two = await startWorker(database, { test_rows: async (lease, work) => lease.id === id ? next.handler(lease, work) : { succeed: true } },
      { workerConcurrency: 1, leaseSeconds: 120, heartbeatSeconds: 30, pollSeconds: 600 });
    await until(() => two.listener.state().up);
    await until(async () => Number((await database.pool.query(`select count(*) as n from test_rows where state = 'succeeded'`)).rows[0].n) > 200); // its mark has moved on
    const started = performance.now();
    const stopped = one.stop(1).then(() => performance.now());
    await next.run(1, 3_500);
    const taken = performance.now();
    expect(await stopped - started).toBeLessThan(1_500);
    expect(taken - started).toBeLessThan(1_000 + 2_000);
    expect(run.signal.aborted).toBe(true);
    expect(await row(database.pool, id!)).toMatchObject({ state: 'running', attempt: 0, lost_leases: 0, lease_token: '2', worker_id: two.identity.id });
    expect(await causes(database.pool, id!)).toEqual(['enqueue', 'acquire', 'drain', 'acquire']);
    expect(await broken(database.pool)).toEqual([]);
  });

  it('without any budget still gives back', async () => {
    const [id] = await add(database.pool, ['long']);
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler });
    await gate.run(1);
    await one.stop(0);
    expect(await row(database.pool, id!)).toMatchObject({ state: 'queued', lost_leases: 0, attempt: 0 });
  });

  it('waits for a settle that is under way rather than giving its row back', async () => {
    const [id] = await add(database.pool, ['settling']);
    const writing = { now: false };
    let finish = () => {};
    const one = await startWorker(database, {
      test_rows: async () => ({
        succeed: true, set: { note: 'kept' },
        apply: async () => { writing.now = true; await new Promise<void>((resolve) => { finish = resolve; }); },
      }),
    });
    await until(() => writing.now);
    const stopped = one.stop(1);
    setTimeout(() => finish(), 850); // in the part of the budget that is kept for giving back
    await stopped;
    expect(await row(database.pool, id!)).toMatchObject({ state: 'succeeded', note: 'kept' });
  });

  it('gives back the row of a handler that ignores its abort, and throws its result away', async () => {
    const [id] = await add(database.pool, ['deaf']);
    let finish = () => {};
    const one = await startWorker(database, { test_rows: async () => { await new Promise<void>((resolve) => { finish = resolve; }); return { succeed: true, set: { note: 'late' } }; } });
    await until(async () => (await row(database.pool, id!)).state === 'running');
    await one.stop(0.3);
    expect(await row(database.pool, id!)).toMatchObject({ state: 'queued', lost_leases: 0 });
    finish();
    await until(async () => (await causes(database.pool, id!)).includes('late_write'));
    expect(await row(database.pool, id!)).toMatchObject({ state: 'queued', note: null });
  });

  it('beats until its last lease is given back', async () => {
    const [id] = await add(database.pool, ['long']);
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler }, { leaseSeconds: 1.2, heartbeatSeconds: 0.3, sweepSeconds: 0.3 });
    const run = await gate.run(1);
    const stopped = one.stop(4); // more than three leases
    await database.pool.query('select pg_sleep(2.4)');
    expect(await row(database.pool, id!)).toMatchObject({ state: 'running', lease_token: '1', lost_leases: 0 });
    run.finish();
    await stopped;
    expect(await row(database.pool, id!)).toMatchObject({ state: 'succeeded' });
  });
});

describe('an operator\'s drain', () => {
  const order = (id: string, drainedBy: 'operator' | null) => database.pool.query(
    `update workers set drained_by = $2, draining_since = case when $2::text is not null then now() end where id = $1`, [id, drainedBy]);

  it.each(['kick', 'beat'] as const)('by %s gives everything back uncharged and idles until it is resumed', async (how) => {
    const [id] = await add(database.pool, ['held']);
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler }, how === 'kick' ? { heartbeatSeconds: 60, leaseSeconds: 120 } : { heartbeatSeconds: 0.3 });
    const run = await gate.run(1);
    await until(() => one.listener.state().up);
    await order(one.identity.id, 'operator');
    if (how === 'kick') await kick(database.pool, { kickChannel: 'leaseboard_kick' }, { drain: one.identity.id });
    await until(() => run.signal.aborted, { timeoutMs: 2_000 });
    await until(async () => (await row(database.pool, id!)).state === 'queued');
    await database.pool.query('select pg_sleep(1.3)'); // longer than a poll
    expect(await row(database.pool, id!)).toMatchObject({ state: 'queued', attempt: 0, lost_leases: 0 });
    await order(one.identity.id, null);
    if (how === 'kick') await kick(database.pool, { kickChannel: 'leaseboard_kick' }, { resume: one.identity.id });
    (await gate.run(2, 2_000)).finish();
    await until(async () => (await row(database.pool, id!)).state === 'succeeded');
  });

  it('that was given while the worker could not hear is heard when it listens again, not at the next beat', async () => {
    const [id] = await add(database.pool, ['held']);
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler }, { heartbeatSeconds: 60, leaseSeconds: 240, appVersion: 'deaf' });
    const run = await gate.run(1);
    await until(() => one.listener.state().up);
    await order(one.identity.id, 'operator');
    await database.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'leaseboard worker/listener deaf'`);
    await until(() => run.signal.aborted, { timeoutMs: 10_000 });
    await until(async () => (await row(database.pool, id!)).state === 'queued');
  });

  it('of another worker is no business of this one', async () => {
    await add(database.pool, ['held']);
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler });
    const run = await gate.run(1);
    await until(() => one.listener.state().up);
    await kick(database.pool, { kickChannel: 'leaseboard_kick' }, { drain: 'someone-else' });
    await database.pool.query('select pg_sleep(0.3)');
    expect(run.signal.aborted).toBe(false);
  });
});

describe('the low-water mark', () => {
  it('is passed by a row put back below it within a poll even without a kick', async () => {
    await backlog(20_000);
    const gate = new Gate();
    // Each takes longer than what is claimed ahead for: the backlog outlasts the test.
    const plain = () => new Promise<{ succeed: true }>((resolve) => { setTimeout(resolve, 10, { succeed: true }); });
    await startWorker(database, { test_rows: async (lease, work) => lease.row.name === 'front' ? gate.handler(lease, work) : plain() }, { workerConcurrency: 1, pollSeconds: 1 });
    await until(async () => Number((await database.pool.query(`select count(*) as n from test_rows where state = 'succeeded'`)).rows[0].n) > 100);
    const [id] = await add(database.pool, ['front']);
    await database.pool.query(`update test_rows set run_after = now() - interval '1 hour', queued_at = now() where id = $1`, [id]);
    expect((await gate.run(1, 3_000)).id).toBe(id);
    expect(Number((await database.pool.query(`select count(*) as n from test_rows where state = 'queued'`)).rows[0].n)).toBeGreaterThan(1_000);
    await database.pool.query(`delete from test_rows where state = 'queued'`);
  });
});

describe('after a crash', () => {
  it('a row whose worker died is swept and done by another, charged as a lost lease only', async () => {
    const [id] = await add(database.pool, ['orphan']);
    await database.pool.query(`update test_rows set state = 'running', lease_token = 1, worker_id = 'dead', claimed_at = now(), heartbeat_at = now(), lease_expires_at = now() - interval '1 second'`);
    await startWorker(database, { [testRows.table]: async () => ({ succeed: true }) });
    await until(async () => (await row(database.pool, id!)).state === 'succeeded', { timeoutMs: 4_000 });
    expect(await row(database.pool, id!)).toMatchObject({ lost_leases: 1, attempt: 0, lease_token: '2' });
  });
});
