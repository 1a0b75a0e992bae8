import pino from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { kick } from '../../server/bus/kick.js';
import { inTransaction } from '../../server/db/connection.js';
import { cancel } from '../../server/lease/cancel.js';
import { PermanentError, TransientError } from '../../server/lease/errors.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { causes } from '../lease/world.js';
import { add, broken, Gate, registry, row, startWorker, stateCounts, stopAll, testRows, workerDatabase } from './world.js';

let database: TestDatabase;
beforeAll(async () => { database = await workerDatabase(); });
beforeEach(() => database.pool.query('delete from test_rows; delete from other_rows; delete from queue_events; delete from workers; delete from breakers; delete from queue_pauses'));
afterEach(stopAll);

const inState = async (id: string, state: string) => until(async () => { const now = await row(database.pool, id); return now.state === state && now; }, { what: `${id} ${state}` });
/** Wakes the workers. */
const wake = (low = false) => kick(database.pool, { kickChannel: 'leaseboard_kick' }, low ? { q: 'test_rows', low } : { q: 'test_rows' });

describe('a worker', () => {
  it('takes what waits when it starts, and what a kick announces, without waiting for a poll', async () => {
    const [first] = await add(database.pool, ['first']);
    const gate = new Gate();
    const worker = await startWorker(database, { test_rows: gate.handler }, { pollSeconds: 600 });
    (await gate.run(1)).finish();
    await inState(first!, 'succeeded');
    await until(() => worker.listener.state().up);
    const [second] = await add(database.pool, ['second']);
    await wake();
    expect((await gate.run(2, 1_000)).id).toBe(second);
  });

  it('takes by its poll what no kick announced', async () => {
    const gate = new Gate();
    await startWorker(database, { test_rows: gate.handler }, { pollSeconds: 0.5 });
    const [id] = await add(database.pool, ['unannounced']);
    expect((await gate.run(1, 2_000)).id).toBe(id);
  });

  it('never runs more handlers than it has slots, over all queues of the lane, and claims no more rows either', async () => {
    await add(database.pool, Array.from({ length: 10 }, (_, n) => `${n}`));
    await add(database.pool, Array.from({ length: 10 }, (_, n) => `${n}`), registry[1]);
    const gate = new Gate();
    await startWorker(database, { test_rows: gate.handler, other_rows: gate.handler }, { workerConcurrency: 3 });
    let most = 0;
    for (let n = 1; n <= 20; n++) {
      const run = await gate.run(n);
      const { rows } = await database.pool.query(`select (select count(*) from test_rows where state = 'running') + (select count(*) from other_rows where state = 'running') as held`);
      most = Math.max(most, Number(rows[0].held));
      run.finish();
    }
    await until(async () => (await stateCounts(database.pool)).succeeded === 10 && (await stateCounts(database.pool, registry[1])).succeeded === 10);
    expect([gate.most, most]).toEqual([3, 3]);
    expect(await broken(database.pool)).toEqual([]);
  });

  it('keeps the slot of a handler that ignores its abort until it really returns', async () => {
    const [first, second] = await add(database.pool, ['deaf', 'next']);
    let release = () => {};
    const seen: string[] = [];
    await startWorker(database, {
      test_rows: async (lease, work) => {
        seen.push(String(lease.row.name));
        if (lease.row.name === 'deaf') await new Promise<void>((resolve) => { release = resolve; });
        expect(work.signal.aborted).toBe(lease.row.name === 'deaf');
        return { succeed: true, set: { note: 'written' } };
      },
    }, { workerConcurrency: 1 });
    await until(() => seen.length === 1);
    await inTransaction(database.pool, async (tx) => {
      const { lost } = await cancel(tx, testRows, [first!], 'No longer wanted.', registry);
      await kick(tx, { kickChannel: 'leaseboard_kick' }, { lost });
    });
    await wake();
    await database.pool.query('select pg_sleep(1.5)'); // more than a poll: nothing may happen in this time
    expect([seen, (await row(database.pool, second!)).state]).toEqual([['deaf'], 'queued']);
    release();
    await inState(second!, 'succeeded');
    expect(await row(database.pool, first!)).toMatchObject({ state: 'cancelled', note: null });
  });

  it('stops the work on a cancelled row within a second of the kick that names it', async () => {
    const [id] = await add(database.pool, ['unwanted']);
    const gate = new Gate();
    const worker = await startWorker(database, { test_rows: gate.handler }, { heartbeatSeconds: 60, leaseSeconds: 120 });
    const run = await gate.run(1);
    await until(() => worker.listener.state().up);
    await inTransaction(database.pool, async (tx) => {
      const { lost } = await cancel(tx, testRows, [id!], 'No longer wanted.', registry);
      await kick(tx, { kickChannel: 'leaseboard_kick' }, { lost });
    });
    await until(() => run.signal.aborted, { timeoutMs: 1_000 });
    expect(String(run.signal.reason)).toMatch(/is lost/);
    expect(worker.worker.held).toBe(0);
  });

  it('stops the work on a cancelled row with its next beat when the kick was lost, and holds the rest', async () => {
    const [id, other] = await add(database.pool, ['unwanted', 'wanted']);
    const gate = new Gate();
    await startWorker(database, { test_rows: gate.handler }, { heartbeatSeconds: 0.5 });
    const runs = [await gate.run(1), await gate.run(2)];
    await inTransaction(database.pool, (tx) => cancel(tx, testRows, [id!], 'No longer wanted.', registry));
    await until(() => runs.find((run) => run.id === id)!.signal.aborted, { timeoutMs: 2_500 });
    expect(runs.find((run) => run.id === other)!.signal.aborted).toBe(false);
  });

  it('does not stop for a hint that is not true', async () => {
    const [id] = await add(database.pool, ['fine']);
    const gate = new Gate();
    const worker = await startWorker(database, { test_rows: gate.handler });
    const run = await gate.run(1);
    await until(() => worker.listener.state().up);
    const before = Number((await row(database.pool, id!)).version);
    await kick(database.pool, { kickChannel: 'leaseboard_kick' }, { lost: [id!] });
    await until(async () => Number((await row(database.pool, id!)).version) > before); // it asked the database
    expect(run.signal.aborted).toBe(false);
    run.finish();
    await inState(id!, 'succeeded');
  });

  it('keeps a lease for as long as the work takes, and writes its progress with the beats', async () => {
    const [id] = await add(database.pool, ['slow']);
    let finish = () => {};
    await startWorker(database, {
      test_rows: async (_, work) => {
        for (const [done, total] of [[1, 9], [2.7, 9], [Number.NaN, Infinity], [3, 9]] as const) work.progress(done, total);
        await new Promise<void>((resolve) => { finish = resolve; });
        return { succeed: true };
      },
    }, { leaseSeconds: 1.5, heartbeatSeconds: 0.5 });
    await until(async () => (await row(database.pool, id!)).done === 3);
    await database.pool.query('select pg_sleep(3)'); // twice the lease
    expect(await row(database.pool, id!)).toMatchObject({ state: 'running', lost_leases: 0, lease_token: '1', total: 9 });
    finish();
    await inState(id!, 'succeeded');
  });

  it('keeps beating whatever a handler reports as its progress', async () => {
    const [id] = await add(database.pool, ['confused']);
    let report: (done: number, total: number) => void = () => {};
    const gate = new Gate();
    await startWorker(database, { test_rows: (lease, work) => { report = work.progress; return gate.handler(lease, work); } }, { leaseSeconds: 2, heartbeatSeconds: 0.3 });
    const run = await gate.run(1);
    for (const [done, total] of [[0.5, 1.5], [Number.NaN, 2], [-1, 1e99], [Infinity, -Infinity]] as const) {
      const before = Number((await row(database.pool, id!)).version);
      report(done, total);
      await until(async () => Number((await row(database.pool, id!)).version) > before, { timeoutMs: 2_000, what: `a beat with progress ${done}/${total}` });
    }
    expect(run.signal.aborted).toBe(false);
  });

  it('collapses a burst of kicks into a few looks', async () => {
    const worker = await startWorker(database, { test_rows: new Gate().handler }, { pollSeconds: 600 });
    await until(() => worker.listener.state().up);
    const pump = (worker.worker as unknown as { pump: { round: unknown; rounds(): Promise<void> } }).pump;
    await until(() => pump.round === undefined, { what: 'the look at the start is over' }); // kicks during it are seen by it
    const rounds = pump.rounds.bind(pump);
    let looks = 0;
    pump.rounds = () => { looks += 1; return rounds(); };
    await Promise.all(Array.from({ length: 100 }, () => wake()));
    await until(() => looks > 0);
    await database.pool.query('select pg_sleep(0.3)');
    expect(looks).toBeLessThanOrEqual(12);
  });
});

describe('what a handler throws', () => {
  it.each([
    ['a permanent error', new PermanentError('password_required', 'It needs a password.'), { state: 'failed', attempt: 1, error_code: 'password_required', error_message: 'It needs a password.' }],
    ['a transient error', new TransientError('took_too_long', 'It took too long.'), { state: 'queued', attempt: 1, error_code: 'took_too_long' }],
    ['any other error', new Error('surprise'), { state: 'queued', attempt: 1, error_code: 'internal', error_message: 'surprise' }],
    ['something that is no error', 'a string', { state: 'queued', attempt: 1, error_code: 'internal', error_message: 'a string' }],
    ['what cannot be turned into text', Object.create(null), { state: 'queued', attempt: 1, error_code: 'internal', error_message: 'Something was thrown that has no text.' }],
    ['an error whose message is no text', Object.assign(new Error(), { message: Symbol('odd') }), { state: 'queued', attempt: 1, error_message: 'Symbol(odd)' }],
    ['an error with NUL and half a character', new PermanentError('damaged_pdf', `a\0b\ud800`), { state: 'failed', error_message: 'ab\ufffd' }],
    ['an endless message cut inside a character', new PermanentError('damaged_pdf', `${'x'.repeat(1_999)}\u{1f600}`), { state: 'failed', error_message: `${'x'.repeat(1_999)}\ufffd` }],
    ['the database\'s absence', Object.assign(new Error('Connection terminated unexpectedly')), { state: 'queued', attempt: 0, lost_leases: 0 }],
    ['a deadlock', Object.assign(new Error('deadlock detected'), { code: '40P01' }), { state: 'queued', attempt: 0, lost_leases: 0 }],
  ])('%s is written on the row', async (_, error, expected) => {
    const [id] = await add(database.pool, ['unlucky']);
    const gate = new Gate();
    await startWorker(database, { test_rows: gate.handler });
    (await gate.run(1)).fail(error);
    await until(async () => (await row(database.pool, id!)).state !== 'running');
    expect(await row(database.pool, id!)).toMatchObject(expected);
  });

  it('as a verdict on its input is no warning; what nobody foresaw is one, with its stack', async () => {
    const lines: string[] = [];
    const [verdict, surprise] = await add(database.pool, ['verdict', 'surprise']);
    await startWorker(database, {
      test_rows: async (lease) => { throw lease.row.name === 'verdict' ? new PermanentError('no_text', 'It is a scan.', { cause: 'what the parser said' }) : new TypeError('surprise'); },
    }, {}, pino({ level: 'info' }, { write: (line) => void lines.push(line) }));
    const saidOf = (id: string) => lines.map((line) => JSON.parse(line)).find((line) => line.event === 'lease_failed' && line.row === id);
    await until(() => saidOf(verdict!) && saidOf(surprise!), { what: 'both are logged' });
    expect(saidOf(verdict!)).toMatchObject({ level: 30, code: 'no_text', msg: 'It is a scan.' });
    expect(saidOf(verdict!)).not.toHaveProperty('err');
    expect(saidOf(surprise!)).toMatchObject({ level: 40, err: { stack: expect.stringContaining('worker.test.ts') } });
  });

  it('three times fails the row, and a neighbour that works is not touched', async () => {
    const [bad, good] = await add(database.pool, ['bad', 'good']);
    await startWorker(database, {
      test_rows: async (lease) => {
        if (lease.row.name === 'bad') throw new TransientError('parser_crashed', `try ${lease.attempt}`);
        return { succeed: true };
      },
    });
    await inState(good!, 'succeeded');
    expect(await inState(bad!, 'failed')).toMatchObject({ attempt: 3, error_code: 'parser_crashed', error_message: 'try 2', lost_leases: 0 });
    expect(await causes(database.pool, bad!)).toEqual(['enqueue', 'acquire', 'retry', 'acquire', 'retry', 'acquire', 'fail']);
  });

  it('in the writes of its own settle is a failure too, and nothing of them stays', async () => {
    const [id] = await add(database.pool, ['unlucky']);
    await startWorker(database, {
      test_rows: async () => ({
        succeed: true, set: { note: 'never' },
        apply: async (tx) => { await tx.query('update test_rows set note = \'never\''); throw new PermanentError('internal', 'Could not be stored.'); },
      }),
    });
    expect(await inState(id!, 'failed')).toMatchObject({ note: null, error_message: 'Could not be stored.' });
  });
});
