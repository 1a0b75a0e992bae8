import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clearStuckLock, requestCancel } from '../../server/deployments/unlock.js';
import { acquire } from '../../server/lease/acquire.js';
import { fence } from '../../server/lease/fence.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import { deployments } from '../../server/lease/queues.js';
import { renew } from '../../server/lease/renew.js';
import { giveBackUnknown } from '../../server/lease/release.js';
import { settle } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { alice, bob, invariantSettings, sweepOptions } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { accepted, ask, DEAD_AFTER, deployment, deskOf, fallSilent, history, newApp, refusals } from './world.js';

let database: TestDatabase;
let desk: ReturnType<typeof deskOf>;

beforeAll(async () => {
  database = await testDatabase();
  desk = deskOf(database.pool);
});
afterAll(async () => {
  expect(await checkInvariants(database.pool, invariantSettings)).toEqual([]);
});

/** The worker whose lease it is. */
async function driven(id: string, holder = alice) {
  const leases = await acquire(database.pool, deployments, holder, 50);
  const lease = leases.find((one) => one.id === id);
  if (!lease) throw new Error('the row could not be acquired');
  return lease;
}

const release = (id: string, publishNo: number) => database.pool.query(
  `update deployments set live_release = jsonb_build_object('releaseId', 'r', 'url', 'u', 'publishNo', $2::int) where id = $1`, [id, publishNo]);

async function goLive(id: string) {
  const lease = await driven(id);
  await release(id, (await deployment(database.pool, id)).publish_no);
  expect((await settle(database.pool, deployments, alice, [{ id, token: lease.token, verb: 'succeed' }])).get(id)).toBe('settled');
}

describe('the publish lock', () => {
  test('is taken by the first publish, and the second is told who has it', async () => {
    const app = newApp({ requestedBy: 'tab' });
    const id = await accepted(desk, app);
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'building', publish_no: 1, worker_id: null });
    const second = await ask(desk, { ...app, requestedBy: 'agent' });
    expect(second).toMatchObject({ kind: 'in_progress', holder: { deploymentId: id, publishNo: 1, requestedBy: 'tab', worker: null } });
    const { since, lastBeat, reclaimableAt } = (second as { holder: { since: string; lastBeat: string; reclaimableAt: string } }).holder;
    expect(Date.parse(reclaimableAt) - Date.parse(lastBeat)).toBe(DEAD_AFTER * 1000);
    expect(since).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(await refusals(database.pool, app.projectId)).toEqual([{ code: 'publish_in_progress', deployment_id: id, requested_by: 'agent', publish_no: 1 }]);
    expect(await history(database.pool, id)).toEqual(['1 building']);
  });

  test('names the worker that drives it', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    await database.pool.query(`insert into workers (id, label, role, version, host, pid) values ('w-alice', 'worker-a', 'worker', 'v1', 'h', 1) on conflict do nothing`);
    await driven(id);
    expect(await ask(desk, app)).toMatchObject({ kind: 'in_progress', holder: { worker: { label: 'worker-a', version: 'v1' } } });
  });

  test('is kept by silence one second short of the limit, and lost to the next publish beyond it, in the same statement', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    await fallSilent(database.pool, id, DEAD_AFTER - 1);
    expect((await ask(desk, app)).kind).toBe('in_progress');
    await fallSilent(database.pool, id, DEAD_AFTER + 1);
    expect(await ask(desk, app)).toEqual({ kind: 'accepted', lock: { deploymentId: id, publishNo: 2 } });
    expect(await history(database.pool, id)).toEqual(['1 lost lost', '2 building']);
  });

  test('is kept through two failed beats', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    await fallSilent(database.pool, id, 30 * 3 + 5);
    expect((await ask(desk, app)).kind).toBe('in_progress');
  });

  test('is free once the publish is live, and the release keeps serving while the next is built', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    await goLive(id);
    expect(await ask(desk, app)).toMatchObject({ kind: 'accepted', lock: { publishNo: 2 } });
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'building', live_release: { publishNo: 1 } });
    expect(await history(database.pool, id)).toEqual(['1 live', '2 building']);
  });

  test('shows nothing of a failure to the publish after it, and keeps it in the history', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    const { token } = await driven(id);
    await settle(database.pool, deployments, alice, [{ id, token, verb: 'fail', code: 'build_failed', message: 'no lockfile' }]);
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'failed', error_code: 'build_failed' });
    await accepted(desk, app);
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'building', error_code: null, error_message: null, attempt: 0 });
    expect(await history(database.pool, id)).toEqual(['1 failed build_failed', '2 building']);
  });

  test('is not given while the queue is paused', async () => {
    const [app, fresh] = [newApp(), newApp()];
    const id = await accepted(desk, app);
    await goLive(id);
    await database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('deployments', 'ada', 'hosting moves')`);
    expect([await ask(desk, app), await ask(desk, fresh)]).toEqual([{ kind: 'paused', reason: 'hosting moves' }, { kind: 'paused', reason: 'hosting moves' }]);
    await database.pool.query('delete from queue_pauses');
    expect((await refusals(database.pool, fresh.projectId)).map((one) => one.code)).toEqual(['queue_paused']);
    expect((await ask(desk, fresh)).kind).toBe('accepted');
  });
});

describe('names', () => {
  test('that another project has are taken, and the loser leaves nothing behind but the refusal', async () => {
    const first = newApp();
    const id = await accepted(desk, first);
    const other = newApp({ slug: first.slug });
    expect(await ask(desk, other)).toEqual({ kind: 'slug_taken' });
    await goLive(id);
    expect(await ask(desk, other)).toEqual({ kind: 'slug_taken' });
    expect((await database.pool.query('select 1 from deployments where project_id = $1', [other.projectId])).rowCount).toBe(0);
    expect((await refusals(database.pool, other.projectId))[0]).toEqual({ code: 'slug_taken', deployment_id: null, requested_by: 'button', publish_no: null });
  });

  test('are fixed by the first publish; while one is under way, waiting is what is asked for', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    expect((await ask(desk, { ...app, slug: 'other-name' })).kind).toBe('in_progress');
    await goLive(id);
    expect(await ask(desk, { ...app, slug: 'other-name' })).toEqual({ kind: 'slug_fixed', slug: app.slug });
  });

  test('of a holder that is deleted between the insert and the look at it are simply free', async () => {
    const first = newApp();
    const id = await accepted(desk, first);
    const raced = deskOf(Object.assign(Object.create(database.pool) as typeof database.pool, {
      query: async (text: string, values: unknown[]) => {
        await database.pool.query('delete from deployments where id = $1', [id]);
        return database.pool.query(text, values);
      },
    }));
    expect((await ask(raced, newApp({ slug: first.slug }))).kind).toBe('accepted');
  });
});

describe('workers and the lock', () => {
  test('a row is taken at any age, by one worker', async () => {
    const id = await accepted(desk, newApp());
    await fallSilent(database.pool, id, 100_000);
    const [one, two] = await Promise.all([acquire(database.pool, deployments, alice, 5), acquire(database.createPool(), deployments, bob, 5)]);
    expect([...one, ...two].filter((lease) => lease.id === id)).toHaveLength(1);
    expect((await deployment(database.pool, id)).silent).toBeLessThan(5);
  });

  test('a dead worker is detached by the sweep, and the row neither requeued, failed nor freed', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    await driven(id);
    await database.pool.query(`update deployments set lease_expires_at = now() - interval '1 second', heartbeat_at = now() - interval '121 seconds' where id = $1`, [id]);
    await sweep(database.pool, sweepOptions);
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'building', worker_id: null, lost_leases: 1, attempt: 0 });
    expect((await deployment(database.pool, id)).silent).toBeGreaterThan(120);
    expect((await ask(desk, app)).kind).toBe('in_progress');
  });

  test('an expired lease is taken over without waiting for the sweep, and the old holder writes nothing more', async () => {
    const id = await accepted(desk, newApp());
    const old = await driven(id);
    await database.pool.query(`update deployments set lease_expires_at = now() - interval '1 second' where id = $1`, [id]);
    const young = await driven(id, bob);
    expect([BigInt(young.token) - BigInt(old.token), young.lostLeases]).toEqual([1n, 1]);
    expect((await renew(database.pool, [{ queue: 'deployments', id, token: old.token }], 60)).get(`deployments/${id}`)).toBe('gone');
    expect((await settle(database.pool, deployments, alice, [{ id, token: old.token, verb: 'fail', code: 'x' }])).get(id)).toBe('lost');
    await expect(fence(database.pool, old)).rejects.toThrow(/lost/);
  });

  test('a holder whose lock was taken over writes nothing, before and after another worker drives the new publish', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    const old = await driven(id);
    await fallSilent(database.pool, id, DEAD_AFTER + 1);
    await accepted(desk, app);
    for (const drive of [false, true]) {
      if (drive) await driven(id, bob);
      for (const verb of ['succeed', 'fail', 'retry', 'drain'] as const) {
        expect((await settle(database.pool, deployments, alice, [{ id, token: old.token, verb }])).get(id)).toBe('lost');
      }
      expect((await renew(database.pool, [{ queue: 'deployments', id, token: old.token }], 60)).get(`deployments/${id}`)).toBe('gone');
    }
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'building', publish_no: 2, worker_id: 'w-bob' });
  });

  test('a drain, an outage and a lost answer give the row back and count as a beat', async () => {
    const id = await accepted(desk, newApp());
    for (const verb of ['drain', 'outage', 'retry'] as const) {
      const { token } = await driven(id);
      await fallSilent(database.pool, id, 200);
      await settle(database.pool, deployments, alice, [{ id, token, verb, delayMs: 0 }]);
      const row = await deployment(database.pool, id);
      expect([verb, row.state, row.worker_id, row.silent! < 5]).toEqual([verb, 'building', null, true]);
    }
    await driven(id);
    expect(await giveBackUnknown(database.pool, deployments, alice, [])).toContain(id);
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'building', worker_id: null, attempt: 1, lost_leases: 0 });
  });

  test('a publish fails with its own error when its tries are used up', async () => {
    const id = await accepted(desk, newApp());
    for (let n = 0; n < 3; n++) {
      const { token } = await driven(id);
      await settle(database.pool, deployments, alice, [{ id, token, verb: 'retry', code: 'build_lost', message: `try ${n}`, delayMs: 0 }]);
    }
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'failed', attempt: 3, error_code: 'build_lost', error_message: 'try 2' });
  });
});

describe('ending a publish by hand', () => {
  test('a cancel asks, keeps the lock, and is refused once it is finished or for another publish', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    expect(await requestCancel(database.pool, id, 'ada', 7)).toEqual({ kind: 'finished', state: 'building', publishNo: 1 });
    expect(await requestCancel(database.pool, id, 'ada')).toEqual({ kind: 'requested', publishNo: 1 });
    expect(await requestCancel(database.pool, id, 'bob')).toEqual({ kind: 'requested', publishNo: 1 });
    expect((await ask(desk, app)).kind).toBe('in_progress');
    const { rows } = await database.pool.query('select cancel_requested_by from deployments where id = $1', [id]);
    expect(rows[0].cancel_requested_by).toBe('ada');
    await goLive(id);
    expect(await requestCancel(database.pool, id, 'ada')).toEqual({ kind: 'finished', state: 'live', publishNo: 1 });
    await accepted(desk, app);
    expect((await database.pool.query('select cancel_requested_at from deployments where id = $1', [id])).rows[0].cancel_requested_at).toBeNull();
  });

  test('a clear takes a dead lock and no other', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    const { token } = await driven(id);
    const clear = (seen = token) => clearStuckLock(database.pool, id, seen, DEAD_AFTER, 'Cleared by ada: stuck.');
    expect((await clear()).kind).toBe('holder_alive');
    await fallSilent(database.pool, id, DEAD_AFTER + 1);
    expect((await clear('0')).kind).toBe('reclaimed');
    expect(await clear()).toEqual({ kind: 'cleared', publishNo: 1 });
    expect(await clear()).toEqual({ kind: 'already_clear' });
    expect(await deployment(database.pool, id)).toMatchObject({ state: 'failed', error_code: 'cleared', worker_id: null });
    expect((await settle(database.pool, deployments, alice, [{ id, token, verb: 'succeed' }])).get(id)).toBe('lost');
    await accepted(desk, app);
    expect(await clear()).toEqual({ kind: 'reclaimed' });
    expect(await history(database.pool, id)).toEqual(['1 failed cleared', '2 building']);
  });

  test('a publish straight after a clear is never refused by the cleared run', async () => {
    const app = newApp();
    const id = await accepted(desk, app);
    const rounds = process.env.LEASEBOARD_LONG ? 1000 : 50;
    for (let round = 1; round <= rounds; round++) {
      const { token } = await driven(id);
      await fallSilent(database.pool, id, DEAD_AFTER + 1);
      const [cleared] = await Promise.all([
        clearStuckLock(database.pool, id, token, DEAD_AFTER, 'cleared'),
        settle(database.pool, deployments, alice, [{ id, token, verb: 'retry', code: 'x', delayMs: 0 }]),
      ]);
      if (cleared.kind !== 'cleared') await database.pool.query(`update deployments set heartbeat_at = now() - interval '1 hour' where id = $1 and state = 'building'`, [id]);
      expect(await ask(desk, app)).toMatchObject({ kind: 'accepted', lock: { publishNo: round + 1 } });
    }
  });
});
