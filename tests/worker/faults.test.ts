import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../server/config.js';
import type { Handlers } from '../../server/lease/handler.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { PUMP_SETUP } from '../../server/worker/process.js';
import { createProxy, type Proxy } from '../bus/proxy.js';
import { causes, openTransaction, undoOpen } from '../lease/world.js';
import { add, broken, Gate, row, startWorker, stateCounts, stopAll, workerDatabase } from './world.js';

let database: TestDatabase;
let proxy: Proxy;
beforeAll(async () => { database = await workerDatabase(); });
beforeEach(async () => {
  await database.pool.query('delete from test_rows; delete from queue_events; delete from workers; delete from breakers');
  proxy = await createProxy(database.url);
});
afterEach(async () => {
  await undoOpen();
  proxy.set('forward');
  await stopAll();
  await proxy.close();
});

/** A worker whose way to the database can be cut. */
const behindProxy = (handlers: Handlers, overrides: Partial<Config> = {}) =>
  startWorker(database, handlers, { databaseUrl: proxy.url, databaseDirectUrl: proxy.url, ...overrides });

const expiresIn = async (id: string) => Number((await database.pool.query('select extract(epoch from lease_expires_at - clock_timestamp()) as s from test_rows where id = $1', [id])).rows[0].s);

/** Ends the backend that a worker keeps for this purpose. */
const terminate = (purpose: string) => database.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like $1`, [`%/${purpose} %`]);

describe('while the database cannot be reached', () => {
  it.each(['refuse', 'hole'] as const)('(%s) a handler is stopped before its lease runs out, and not at the first failed beat', async (mode) => {
    const [id] = await add(database.pool, ['held']);
    const gate = new Gate();
    const one = await behindProxy({ test_rows: gate.handler }, { leaseSeconds: 3, heartbeatSeconds: 0.5, sweepSeconds: 60 });
    const run = await gate.run(1);
    await until(async () => Number((await row(database.pool, id!)).version) > 2); // at least one beat
    const cutAt = performance.now();
    proxy.set(mode);
    await until(() => run.signal.aborted, { timeoutMs: 4_000 });
    expect(performance.now() - cutAt).toBeGreaterThan(1_200); // several beats have failed by then
    expect(await expiresIn(id!)).toBeGreaterThan(0);
    expect(one.worker.held).toBe(0);
  });

  it('a short outage costs no lease: beats are tried again and the work goes on', async () => {
    const [id] = await add(database.pool, ['held']);
    const gate = new Gate();
    await behindProxy({ test_rows: gate.handler }, { leaseSeconds: 4, heartbeatSeconds: 0.5 });
    const run = await gate.run(1);
    proxy.set('refuse');
    await database.pool.query('select pg_sleep(1.5)');
    proxy.set('forward');
    const version = Number((await row(database.pool, id!)).version);
    await until(async () => Number((await row(database.pool, id!)).version) > version, { timeoutMs: 3_000 });
    expect(run.signal.aborted).toBe(false);
    run.finish();
    await until(async () => (await row(database.pool, id!)).state === 'succeeded');
    expect(await row(database.pool, id!)).toMatchObject({ lost_leases: 0, attempt: 0, lease_token: '1' });
  });

  it.each([['the pump', undefined], ['a settle of its own', { note: 'kept' }]])('an end through %s is kept and written when the database is back', async (_, set) => {
    const [id] = await add(database.pool, ['held']);
    const gate = new Gate();
    await behindProxy({ test_rows: async (lease, work) => ({ ...await gate.handler(lease, work), ...(set ? { set } : {}) }) }, { leaseSeconds: 6, heartbeatSeconds: 1 });
    const run = await gate.run(1);
    proxy.set('refuse');
    run.finish();
    await database.pool.query('select pg_sleep(1.2)');
    expect(await row(database.pool, id!)).toMatchObject({ state: 'running' });
    proxy.set('forward');
    await until(async () => (await row(database.pool, id!)).state === 'succeeded', { timeoutMs: 4_000 });
    expect(await row(database.pool, id!)).toMatchObject({ lost_leases: 0, attempt: 0, note: set?.note ?? null });
    expect(gate.runs).toHaveLength(1);
  });

  it('a settle gives up at the deadline of its lease, charging nothing to the row', async () => {
    const [id] = await add(database.pool, ['held']);
    const gate = new Gate();
    const one = await behindProxy({ test_rows: async (lease, work) => ({ ...await gate.handler(lease, work), set: { note: 'never' } }) }, { leaseSeconds: 2, heartbeatSeconds: 0.5, sweepSeconds: 60 });
    const run = await gate.run(1);
    proxy.set('refuse');
    run.finish();
    await until(() => one.worker.held === 0, { timeoutMs: 4_000 });
    proxy.set('forward');
    await until(async () => (await row(database.pool, id!)).lease_token === '2' || (await row(database.pool, id!)).state === 'queued', { timeoutMs: 5_000 });
    expect(await row(database.pool, id!)).toMatchObject({ attempt: 0, note: null });
  });

  it('the work of the worker goes on by itself once it can be reached again', async () => {
    await behindProxy({ test_rows: async () => ({ succeed: true }) }, { pollSeconds: 0.5 });
    proxy.set('refuse');
    const ids = await add(database.pool, Array.from({ length: 20 }, (_, n) => `${n}`));
    await database.pool.query('select pg_sleep(1)');
    proxy.set('forward');
    await until(async () => (await stateCounts(database.pool)).succeeded === ids.length, { timeoutMs: 6_000 });
    expect(await broken(database.pool)).toEqual([]);
  });
});

describe('an acquire whose answer is lost', () => {
  it('in the middle of a statement leaves nothing held that nobody knows of', async () => {
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler }, { leaseSeconds: 120, heartbeatSeconds: 1, sweepSeconds: 60, workerConcurrency: 3 });
    for (let round = 0; round < 5; round++) {
      await add(database.pool, ['a', 'b', 'c']);
      await terminate('pump');
      await until(async () => (await stateCounts(database.pool)).running === 3 && one.worker.held === 3, { timeoutMs: 6_000 });
      await until(() => gate.runs.filter((run) => !run.signal.aborted).length >= 3);
      for (const run of gate.runs) run.finish();
      await until(async () => !(await stateCounts(database.pool)).running && !(await stateCounts(database.pool)).queued, { timeoutMs: 6_000 });
    }
    const { rows } = await database.pool.query('select max(lost_leases)::int as lost, max(attempt)::int as attempt from test_rows');
    expect(rows).toEqual([{ lost: 0, attempt: 0 }]);
    expect(await broken(database.pool)).toEqual([]);
  });

  it('on its way back gives the rows back uncharged and does them', async () => {
    const gate = new Gate();
    const one = await behindProxy({ test_rows: gate.handler }, { leaseSeconds: 120, heartbeatSeconds: 1, sweepSeconds: 60, pollSeconds: 0.5, workerConcurrency: 1 });
    await add(database.pool, ['first']);
    (await gate.run(1)).finish();
    await until(async () => (await stateCounts(database.pool)).succeeded === 1 && one.worker.held === 0);
    // The claim waits behind a lock on the table; its answer finds no way back.
    const locking = await openTransaction(database.pool);
    await locking.query('lock table test_rows in access exclusive mode');
    const inside = await locking.query(`insert into test_rows (id, name, state) values (gen_random_uuid(), 'unanswered', 'queued') returning id`);
    const id = inside.rows[0].id as string;
    await until(async () => Number((await database.pool.query(`select count(*) as n from pg_stat_activity where datname = current_database() and application_name like '%/pump %' and wait_event_type = 'Lock'`)).rows[0].n) === 1, { timeoutMs: 4_000 });
    proxy.set('hole'); // links stay open on the server's side: it commits the claim and answers into nothing
    await locking.commit();
    await until(async () => (await row(database.pool, id)).lease_token === '1');
    proxy.set('refuse');
    proxy.set('forward');
    const run = await gate.run(2, 15_000);
    expect(run).toMatchObject({ id, token: '2' });
    expect(await causes(database.pool, id)).toEqual(['acquire', 'answer_lost', 'acquire']);
    expect(await row(database.pool, id)).toMatchObject({ attempt: 0, lost_leases: 0 });
    run.finish();
    await until(() => one.worker.held === 0);
  });
});

describe('an end that cannot be written now', () => {
  it('is sent again after a statement limit or a lock limit, not thrown away', async () => {
    const [id] = await add(database.pool, ['locked']);
    const gate = new Gate();
    const one = await startWorker(database, { test_rows: gate.handler }, { leaseSeconds: 120, heartbeatSeconds: 30 });
    const run = await gate.run(1);
    const locking = await openTransaction(database.pool);
    await locking.query('select 1 from test_rows where id = $1 for update', [id]);
    run.finish();
    const pid = await until(async () => (await database.pool.query(`select pid from pg_stat_activity where datname = current_database() and application_name like '%/pump %' and wait_event_type = 'Lock'`)).rows[0]?.pid as number);
    await database.pool.query('select pg_cancel_backend($1)', [pid]); // as a statement_timeout would: 57014
    await until(async () => (await database.pool.query(`select 1 from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`, [pid])).rows.length === 1, { timeoutMs: 4_000, what: 'the end being sent again' });
    await locking.commit();
    await until(async () => (await row(database.pool, id!)).state === 'succeeded' && one.worker.held === 0, { timeoutMs: 4_000 });   // the answer comes after the commit
    expect(await causes(database.pool, id!)).toEqual(['enqueue', 'acquire', 'succeed']);
  });

  it('and never can be is dropped alone; those beside it are written', async () => {
    const ids = await add(database.pool, ['good', 'bad', 'good', 'good']);
    await database.pool.query(`alter table test_rows add constraint test_refuses check (error_code is distinct from 'refused')`);
    const gate = new Gate();
    await startWorker(database, { test_rows: async (lease, work) => {
      await gate.handler(lease, work);
      if (lease.row.name === 'bad') throw Object.assign(new Error('No.'), { name: 'Error' });
      return { succeed: true };
    } }, { workerConcurrency: 4, leaseSeconds: 120, heartbeatSeconds: 30, sweepSeconds: 60 });
    await gate.run(4);
    await database.pool.query(`alter table test_rows drop constraint test_refuses; alter table test_rows add constraint test_refuses check (error_code is distinct from 'internal') not valid`);
    for (const run of gate.runs) run.finish();
    await until(async () => (await stateCounts(database.pool)).succeeded === 3, { timeoutMs: 8_000 });
    expect(await row(database.pool, ids[1]!)).toMatchObject({ state: 'running' });
    await database.pool.query('alter table test_rows drop constraint test_refuses');
  });
});

describe('the pump\'s session', () => {
  it.each([['off', 'on'], ['local', 'on'], ['remote_apply', 'remote_apply'], ['on', 'on']])('where commits are %s by default has them %s', async (byDefault, then) => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`set synchronous_commit = ${byDefault}`);
    await client.query(PUMP_SETUP);
    const { rows } = await client.query('show synchronous_commit');
    await client.end();
    expect(rows).toEqual([{ synchronous_commit: then }]);
  });
});

describe('connections that break', () => {
  it.each(['pump', 'beats', 'listener'])('the %s terminated again and again loses no row and ends no process', async (purpose) => {
    await startWorker(database, { test_rows: async () => ({ succeed: true }) }, { leaseSeconds: 10, heartbeatSeconds: 0.3, pollSeconds: 0.3 });
    for (let round = 0; round < 4; round++) {
      await add(database.pool, Array.from({ length: 10 }, (_, n) => `${n}`));
      await terminate(purpose);
    }
    await until(async () => (await stateCounts(database.pool)).succeeded === 40, { timeoutMs: 8_000 });
    const { rows } = await database.pool.query('select max(lost_leases)::int as lost, max(attempt)::int as attempt from test_rows');
    expect(rows).toEqual([{ lost: 0, attempt: 0 }]);
  });
});

it('secrets in what a handler throws are not kept on the row', async () => {
  const [id] = await add(database.pool, ['talks']);
  await startWorker(database, { test_rows: async () => { throw new Error(`postgres://app:hunter2@db/x refused lb_${'a'.repeat(43)}`); } }, { maxAttempts: 1 });
  await until(async () => (await row(database.pool, id!)).error_message !== null);
  expect((await row(database.pool, id!)).error_message).toBe('postgres://app:***@db/x refused lb_***');
});
