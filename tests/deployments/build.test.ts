import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { requestCancel } from '../../server/deployments/unlock.js';
import type { StubOrchestrator } from '../../server/deployments/stub-orchestrator.js';
import { kick } from '../../server/bus/kick.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { accepted, ask, DEAD_AFTER, deployment, deskOf, fallSilent, history, newApp, startStub, startWorker, stopAll } from './world.js';

let database: TestDatabase;
let desk: ReturnType<typeof deskOf>;
let stub: StubOrchestrator;

beforeAll(async () => {
  database = await testDatabase();
  desk = deskOf(database.pool);
});
beforeEach(async () => {
  await database.pool.query('delete from deployments; delete from breakers');
  stub = await startStub();
});
afterEach(stopAll);

const inState = (id: string, state: string) => until(async () => (await deployment(database.pool, id)).state === state, { what: `the deployment being ${state}`, timeoutMs: 20_000 });
const builds = (count: number) => until(() => stub.builds.counts.created >= count, { what: `${count} builds`, timeoutMs: 20_000 });
const newest = () => stub.builds.state.builds.at(-1)!;
const recorded = (id: string) => until(async () => (await deployment(database.pool, id)).build_id, { what: 'the build to be recorded', timeoutMs: 20_000 });

async function cancel(id: string) {
  await requestCancel(database.pool, id, 'ada');
  await kick(database.pool, { kickChannel: 'leaseboard_kick' }, { q: 'deployments', low: true });
}

test('a publish becomes one build, and its release is live', async () => {
  await startWorker(database, stub);
  const id = await accepted(desk, newApp());
  await recorded(id);
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
  expect((await deployment(database.pool, id)).live_release).toMatchObject({ publishNo: 1, releaseId: newest().releaseId, url: newest().url });
  expect(stub.builds.counts).toMatchObject({ asked: 1, created: 1, released: 1 });
});

test('a failed build fails the publish with its own words, the earlier release still serving', async () => {
  await startWorker(database, stub);
  const app = newApp();
  const id = await accepted(desk, app);
  await recorded(id);
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
  await accepted(desk, app);
  await builds(2);
  stub.builds.finish(newest().buildId, 'npm ci failed');
  await inState(id, 'failed');
  expect(await deployment(database.pool, id)).toMatchObject({ error_code: 'build_failed', error_message: 'npm ci failed', live_release: { publishNo: 1 } });
  expect(await history(database.pool, id)).toEqual(['1 live', '2 failed build_failed']);
});

test('a worker that is redeployed three times in mid-build leaves one build and one release', async () => {
  let worker = await startWorker(database, stub, { appVersion: 'v1' });
  const id = await accepted(desk, newApp());
  await recorded(id);
  for (const version of ['v2', 'v3', 'v4']) {
    await worker.end();
    expect((await deployment(database.pool, id)).state).toBe('building');
    worker = await startWorker(database, stub, { appVersion: version });
    await until(async () => (await deployment(database.pool, id)).worker_id === worker.identity.id, { what: `${version} driving the build`, timeoutMs: 20_000 });
  }
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
  expect(stub.builds.counts).toMatchObject({ asked: 1, created: 1, released: 1 });
  expect(await deployment(database.pool, id)).toMatchObject({ attempt: 0, lost_leases: 0 });
});

test('the answer to the request for a build is lost and the worker is gone: the next one finds the same build', async () => {
  stub.behave({ loseAnswers: 4 });
  const first = await startWorker(database, stub);
  const id = await accepted(desk, newApp());
  await builds(1);
  await first.end();
  expect((await deployment(database.pool, id)).build_id).toBeNull();
  stub.behave({ loseAnswers: 0 });
  await database.pool.query('delete from breakers; update deployments set run_after = now()');
  await startWorker(database, stub);
  await recorded(id);
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
  expect(stub.builds.counts).toMatchObject({ created: 1, released: 1 });
  expect(stub.builds.counts.replayed).toBeGreaterThan(0);
});

test('an orchestrator that is down charges nothing, rests the queue, and the build goes on when it is back', async () => {
  stub.behave({ refuse: { count: 4, status: 503 } });
  await startWorker(database, stub);
  const id = await accepted(desk, newApp());
  await until(async () => (await database.pool.query('select 1 from breakers')).rowCount === 1, { what: 'the queue resting', timeoutMs: 20_000 });
  expect(await deployment(database.pool, id)).toMatchObject({ state: 'building', attempt: 0 });
  await database.pool.query('delete from breakers; update deployments set run_after = now()');
  await recorded(id);
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
});

test('the queue no longer rests once the orchestrator has answered, though the build goes on for long', async () => {
  await startWorker(database, stub);
  await database.pool.query(`insert into breakers (queue, opened_at, retry_at, failures, reason) values ('deployments', now(), now(), 3, 'down')`);
  const id = await accepted(desk, newApp());
  await recorded(id);
  const other = await accepted(desk, newApp());
  await recorded(other);
});

test.each(['slow', 'silent', 'refusing'] as const)('an orchestrator that is %s for some requests loses no publish', async (fault) => {
  await startWorker(database, stub);
  const id = await accepted(desk, newApp());
  await recorded(id);
  stub.behave(fault === 'slow' ? { slowMs: 200 } : fault === 'silent' ? { hang: 2 } : { refuse: { count: 3, status: 429, retryAfterSeconds: 0 } });
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
  expect(stub.builds.counts.created).toBe(1);
});

test('an orchestrator that has forgotten the build is asked again', async () => {
  await startWorker(database, stub);
  const id = await accepted(desk, newApp());
  await recorded(id);
  stub.behave({ refuse: { count: 1, status: 404 } });
  await until(async () => (await deployment(database.pool, id)).attempt === 1, { what: 'the try to be charged', timeoutMs: 20_000 });
  await database.pool.query('update deployments set run_after = now()');
  await recorded(id);
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
});

test('an order that the orchestrator refuses fails the publish with what it said', async () => {
  stub.behave({ refuse: { count: 1, status: 422 } });
  await startWorker(database, stub);
  const id = await accepted(desk, newApp());
  await inState(id, 'failed');
  expect(await deployment(database.pool, id)).toMatchObject({ error_code: 'orchestrator_refused', error_message: expect.stringContaining('told to refuse') });
});

test('a cancel holds the lock until the build has ended, and the publish fails as cancelled', async () => {
  const worker = await startWorker(database, stub);
  const app = newApp();
  const id = await accepted(desk, app);
  await recorded(id);
  stub.behave({ stubborn: true });
  await cancel(id);
  await until(() => stub.builds.counts.cancels === 1, { what: 'the cancel to arrive' });
  expect((await ask(desk, app)).kind).toBe('in_progress');
  expect((await deployment(database.pool, id)).worker_id).toBe(worker.identity.id);
  stub.builds.finish(newest().buildId, 'cancelled');
  await inState(id, 'failed');
  expect(await deployment(database.pool, id)).toMatchObject({ error_code: 'cancelled', live_release: null });
  expect((await ask(desk, app)).kind).toBe('accepted');
});

test('a cancel that comes before any build was asked for needs none', async () => {
  const id = await accepted(desk, newApp());
  await requestCancel(database.pool, id, 'ada');
  await startWorker(database, stub);
  await inState(id, 'failed');
  expect([(await deployment(database.pool, id)).error_code, stub.builds.counts.asked]).toEqual(['cancelled', 0]);
});

test('a release that was faster than the cancel is live', async () => {
  await startWorker(database, stub);
  const id = await accepted(desk, newApp());
  await recorded(id);
  stub.behave({ stubborn: true });
  await cancel(id);
  await until(() => stub.builds.counts.cancels === 1, { what: 'the cancel to arrive' });
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
});

test('everything is killed after the claim: the lock is free after the silence, and the next publish ends the old build before its own', async () => {
  const app = newApp();
  const first = await startWorker(database, stub);
  const id = await accepted(desk, app);
  await recorded(id);
  await first.end();
  await fallSilent(database.pool, id, DEAD_AFTER + 1);
  await accepted(desk, app);
  const old = newest();
  expect(await deployment(database.pool, id)).toMatchObject({ publish_no: 2, previous_build_id: old.buildId, build_id: null });
  await startWorker(database, stub);
  await builds(2);
  expect(stub.builds.find(old.buildId)).toMatchObject({ state: 'failed', error: 'cancelled' });
  await recorded(id);
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
  expect(await history(database.pool, id)).toEqual(['1 lost lost', '2 live']);
});

test('a predecessor that will not end is left to the fence: its late release is refused, and the second publish is live', async () => {
  stub.behave({ stubborn: true });
  const app = newApp();
  const first = await startWorker(database, stub);
  const id = await accepted(desk, app);
  await recorded(id);
  await first.end();
  const old = newest();
  await fallSilent(database.pool, id, DEAD_AFTER + 1);
  await accepted(desk, app);
  await startWorker(database, stub);
  await builds(2);
  await recorded(id);
  stub.builds.finish(old.buildId);
  expect(stub.builds.find(old.buildId)).toMatchObject({ state: 'failed', error: expect.stringContaining('newer publish') });
  stub.builds.finish(newest().buildId);
  await inState(id, 'live');
  expect(stub.builds.counts).toMatchObject({ refusedAtRelease: 1, released: 1 });
  expect((await deployment(database.pool, id)).live_release).toMatchObject({ publishNo: 2 });
});

test('a predecessor that was released before its end was asked for is what serves, until the new publish is live', async () => {
  const app = newApp();
  const first = await startWorker(database, stub);
  const id = await accepted(desk, app);
  await recorded(id);
  await first.end();
  stub.builds.finish(newest().buildId);
  await fallSilent(database.pool, id, DEAD_AFTER + 1);
  await accepted(desk, app);
  await startWorker(database, stub);
  await builds(2);
  await recorded(id);
  expect((await deployment(database.pool, id)).live_release).toMatchObject({ publishNo: 1 });
  stub.builds.finish(newest().buildId, 'broken');
  await inState(id, 'failed');
  expect((await deployment(database.pool, id)).live_release).toMatchObject({ publishNo: 1 });
});

test('a long build keeps its claim as long as it beats', async () => {
  await startWorker(database, stub);
  const app = newApp();
  const id = await accepted(desk, app);
  await recorded(id);
  // an hour with a beat a second: what was silent for almost the limit is not after the next beat
  for (let round = 0; round < 3; round++) {
    await fallSilent(database.pool, id, DEAD_AFTER - 5);
    expect((await ask(desk, app)).kind).toBe('in_progress');
    await until(async () => (await deployment(database.pool, id)).silent! < 5, { what: 'the next beat' });
  }
  expect((await deployment(database.pool, id)).publish_no).toBe(1);
});
