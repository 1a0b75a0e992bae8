// Leases that an operator takes away: all that are truly stale, none that is alive, and by force so that the old holder can write nothing more.
import type pg from 'pg';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import { sweep } from '../../server/lease/sweep.js';
import { createLogger } from '../../server/log.js';
import { createWorkerProcess } from '../../server/worker/process.js';
import { alice, bob, invariantSettings, newJob, sweepOptions } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { clocks, Gate } from '../worker/world.js';
import { ada, claim, clearAll, cleo, expire, grace, openDesk, press, registerWorkers, type Desk } from './world.js';

const RELEASES = process.env.LEASEBOARD_LONG ? 2_000 : 200;
/** The advisory lock under which one process sweeps (server/lease/sweep.ts). */
const SWEEP_LOCK = 0x7377656570;

let database: TestDatabase;
let pool: pg.Pool;
let desk: Desk;
beforeAll(async () => {
  database = await testDatabase();
  pool = database.createPool({ max: 10 });
  desk = openDesk(database, pool);
});
const ends: (() => Promise<void>)[] = [];
beforeEach(async () => {
  await clearAll(pool);
  await registerWorkers(pool);
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The lease runs out, the page is read and the button pressed, all between two sweeps: what the sweep was first with is another test's. */
async function releaseBetweenSweeps(id: string): Promise<string> {
  const between = await pool.connect();
  try {
    await between.query('begin');
    await between.query('select pg_advisory_xact_lock($1::bigint)', [SWEEP_LOCK]);
    await expire(pool, parseItems, id);
    const { rows } = await pool.query<{ token: string }>('select lease_token::text as token from parse_items where id = $1', [id]);
    const answer = await press(desk, 'release', { queue: 'parse-items', id, token: rows[0]!.token });
    return answer.outcome === 'applied' ? 'applied' : answer.text;
  } finally {
    await between.query('commit');
    between.release();
  }
}

test(`${RELEASES} leases that are truly stale are released, all of them, beside a running sweep and a worker that claims`, async () => {
  const ids: string[] = [];
  while (ids.length < RELEASES) ids.push(...(await newJob(pool, 20)).itemIds);
  await acquire(pool, parseItems, { ...alice, leaseSeconds: 3_600 }, ids.length);
  const decoys = (await newJob(pool, 20)).itemIds;
  const seen = { swept: 0, claimed: 0 };
  let over = false;
  const beside = [
    (async () => {
      while (!over) {
        await pool.query(`update parse_items set lease_expires_at = now() - interval '1 second' where state = 'running' and id = any ($1)`, [decoys]);
        seen.swept += (await sweep(pool, { ...sweepOptions, maxLostLeases: 1_000_000 })).requeued;
      }
    })(),
    (async () => {
      while (!over) seen.claimed += (await acquire(pool, parseItems, { ...bob, leaseSeconds: 3_600 }, 3)).length;
    })(),
  ];
  const answers: string[] = [];
  for (const id of ids) answers.push(await releaseBetweenSweeps(id));
  await until(() => seen.swept > 0 && seen.claimed > 0, { what: 'sweeps and claims beside' });
  over = true;
  await Promise.all(beside);
  expect(answers.filter((answer) => answer !== 'applied')).toEqual([]);
  expect((await pool.query(`select count(*)::int as n from operator_actions where action = 'release' and outcome = 'applied'`)).rows).toEqual([{ n: ids.length }]);
  const { rows } = await pool.query('select max(lost_leases)::int as most, min(lost_leases)::int as least, max(attempt)::int as charged from parse_items where id = any ($1)', [ids]);
  expect(rows).toEqual([{ most: 1, least: 1, charged: 0 }]); // its worker was not known to be gone
  expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
}, 300_000);

test('a live lease is released by nobody without force', async () => {
  const { itemIds: [id] } = await newJob(pool);
  await claim(pool, parseItems, alice, id!);
  const fields = { queue: 'parse-items', id: id!, token: '1' };
  const codes = [];
  for (const actor of [{ ...cleo, role: 'viewer' as const }, cleo, ada, { ...ada, kind: 'cli' as const, id: null }, { ...ada, kind: 'token' as const }]) codes.push((await press(desk, 'release', fields, { actor })).code);
  expect(codes).toEqual(['not_allowed', 'lease_valid', 'lease_valid', 'lease_valid', 'lease_valid']);
  expect((await press(desk, 'force_release', fields, { actor: cleo })).code).toBe('not_allowed');
  expect((await pool.query('select state, lease_token::int as token from parse_items where id = $1', [id])).rows).toEqual([{ state: 'running', token: 1 }]);
});

test('a release of a worker that is known to be gone charges nothing', async () => {
  const { itemIds: [id] } = await newJob(pool);
  await claim(pool, parseItems, alice, id!);
  await expire(pool, parseItems, id!);
  await pool.query('update workers set gone_at = now() where id = $1', [alice.workerId]);
  await press(desk, 'release', { queue: 'parse-items', id: id!, token: '1' });
  expect((await pool.query('select state, lost_leases from parse_items where id = $1', [id])).rows).toEqual([{ state: 'queued', lost_leases: 0 }]);
});

/** A real worker of files whose runs the test ends. It beats so rarely that only the kick can tell it of a loss; `deaf`: the kick does not reach it either. */
async function startReader(deaf: boolean) {
  const gate = new Gate();
  const own = database.createPool({ max: 4 });
  const config = database.config({ ...clocks, workerCapabilities: ['parse'], heartbeatSeconds: 60, leaseSeconds: 300, ...(deaf ? { kickChannel: 'nobody_kicks' } : {}) });
  const worker = createWorkerProcess({ config, role: 'worker', pool: own, handlers: { parse_items: gate.handler, parse_jobs: async () => ({ succeed: true }) }, log: createLogger({ level: 'silent', name: 'test' }) });
  await worker.start();
  ends.push(async () => {
    await worker.stop(0.1);
    await own.end();
  });
  return { worker, gate };
}

test('a holder whose lease is taken by force stops as soon as it is kicked, not with its next beat, and the work is done under the next lease', async () => {
  const first = await startReader(false);
  const { itemIds: [id] } = await newJob(pool);
  const run = await first.gate.run(1);
  await pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('parse_items', 'test', 'so that it stays free')`);
  const answer = await press(desk, 'force_release', { queue: 'parse-items', id: id!, token: run.token }, { actor: grace });
  expect(answer).toMatchObject({ outcome: 'applied', text: expect.stringMatching(/^Took the lease #1 from .+ by force/) });
  await until(() => run.signal.aborted, { what: 'the old holder stopping' });
  await pool.query('delete from queue_pauses');
  const second = await first.gate.run(2);
  expect([second.id, second.token]).toEqual([id, '2']);
  second.finish();
  await until(async () => (await pool.query(`select 1 from parse_items where id = $1 and state = 'succeeded' and attempt = 0 and lost_leases = 0`, [id])).rowCount, { what: 'the end of the file' });
  expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
});

test('an old holder that hears nothing of it writes nothing, and its late write is on record', async () => {
  const { worker, gate } = await startReader(true);
  const { itemIds: [id], jobId } = await newJob(pool);
  const run = await gate.run(1);
  await press(desk, 'force_release', { queue: 'parse-items', id: id!, token: run.token });
  await claim(pool, parseItems, bob, id!);
  const before = (await pool.query('select to_jsonb(i) as row from parse_items i where id = $1', [id])).rows;
  run.finish();
  const late = await until(async () => (await pool.query(`select worker_id, lease_token::text as token from queue_events where row_id = $1 and cause = 'late_write'`, [id])).rows[0] as object | undefined, { what: 'the late write' });
  expect(late).toEqual({ worker_id: worker.identity.id, token: run.token });
  expect((await pool.query('select to_jsonb(i) as row from parse_items i where id = $1', [id])).rows).toEqual(before);
  expect((await pool.query(`select state, open_children from ${parseJobs.table} where id = $1`, [jobId])).rows).toEqual([{ state: 'awaiting', open_children: 1 }]);
});
