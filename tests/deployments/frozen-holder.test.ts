import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { StubOrchestrator } from '../../server/deployments/stub-orchestrator.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { invariantSettings } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { killProcesses, startProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';
import { deployment, history, startStub, stopAll } from './world.js';

/** Real worker processes with short settings: lease 3 s, beat 1 s, sweep 1 s, poll 1 s, dead after 4 s. */
const SETTINGS = { LEASE_SECONDS: '3', HEARTBEAT_SECONDS: '1', SWEEP_SECONDS: '1', POLL_SECONDS: '1', PUBLISH_HEARTBEAT_SECONDS: '1', PUBLISH_DEAD_AFTER_SECONDS: '4', DRAIN_SECONDS: '1' };
const SLOW = 60_000;

let database: TestDatabase;
let web: WebUnderTest;
let stub: StubOrchestrator;
let token: string;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { config: { orchestratorUrl: 'http://127.0.0.1:9', publishDeadAfterSeconds: 4 } });
  token = await apiToken(database);
});
afterEach(async () => {
  await killProcesses();
  await stopAll();
  await database.pool.query('delete from deployments');
});
afterAll(() => web.close());

async function startWorker(label: string): Promise<TestProcess> {
  const worker = startProcess('server/main/worker.js', {
    DATABASE_URL: database.url, WORKER_ID: label, WORKER_CAPABILITIES: 'publish', ORCHESTRATOR_URL: stub.url, ORCHESTRATOR_TOKEN: stub.token, LOG_LEVEL: 'info', ...SETTINGS,
  });
  await worker.says(/worker_started/, SLOW);
  return worker;
}

async function publish(projectId: string): Promise<{ status: number; deploymentId: string }> {
  const response = await fetch(`${web.url}/api/projects/${projectId}/publish`, {
    method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify({ userId: 'u', slug: projectId, requestedBy: 'button' }),
  });
  return { status: response.status, ...await response.json() as { deploymentId: string } };
}

const buildOf = (id: string, count: number) => until(async () => {
  const { build_id: build } = await deployment(database.pool, id);
  return stub.builds.counts.created === count && stub.builds.find(build ?? '')?.state === 'building' ? build : undefined;
}, { what: `build ${count}`, timeoutMs: SLOW });
const live = (id: string) => until(async () => (await deployment(database.pool, id)).state === 'live', { what: 'live', timeoutMs: SLOW });
const publishAgain = (projectId: string) => until(async () => (await publish(projectId)).status === 202, { what: 'the lock being free', timeoutMs: SLOW });

test('a holder that was frozen for longer than the dead-after time thaws, writes nothing, and its release is refused', async () => {
  stub = await startStub({ stubborn: true });
  const frozen = await startWorker('worker-frozen');
  const { deploymentId: id } = await publish('frozen-app');
  const first = await buildOf(id, 1);
  frozen.kill('SIGSTOP');
  await publishAgain('frozen-app');
  await startWorker('worker-second');
  // the first build heeds no cancel: the minute for which its end is waited for is cut short here
  await until(() => stub.builds.counts.cancels > 0, { what: 'the end of the first build being asked for', timeoutMs: SLOW });
  await database.pool.query('update deployments set previous_build_id = null where id = $1', [id]);
  const second = await buildOf(id, 2);
  stub.builds.finish(second);
  await live(id);
  const before = await deployment(database.pool, id);
  frozen.kill('SIGCONT');
  stub.builds.finish(first);
  expect(stub.builds.find(first)).toMatchObject({ state: 'failed', error: expect.stringContaining('newer publish') });
  await frozen.says(/lease_lost|lease_deadline|is lost|no longer|gone/, SLOW);
  await until(async () => (await database.pool.query(`select 1 from workers where label = 'worker-frozen' and gone_at is null and heartbeat_at > now() - interval '2 seconds'`)).rowCount === 1, { what: 'the thawed worker beating', timeoutMs: SLOW });
  expect(await deployment(database.pool, id)).toEqual({ ...before, silent: null });
  expect(before.live_release).toMatchObject({ publishNo: 2 });
  expect(await history(database.pool, id)).toEqual(['1 lost lost', '2 live']);
  expect(stub.builds.counts).toMatchObject({ refusedAtRelease: 1, released: 1 });
  expect(await checkInvariants(database.pool, invariantSettings)).toEqual([]);
}, 180_000);

test('a worker that is killed in mid-build is followed by another, on the same build', async () => {
  stub = await startStub();
  const first = await startWorker('worker-first');
  const { deploymentId: id } = await publish('killed-app');
  const build = await buildOf(id, 1);
  const second = await startWorker('worker-second');
  first.kill('SIGKILL');
  await until(async () => {
    const { rows } = await database.pool.query('select w.label from deployments d join workers w on w.id = d.worker_id where d.id = $1', [id]);
    return rows[0]?.label === 'worker-second';
  }, { what: 'the second worker driving', timeoutMs: SLOW });
  stub.builds.finish(build);
  await live(id);
  expect(stub.builds.counts).toMatchObject({ asked: 1, created: 1, released: 1 });
  expect((await history(database.pool, id))).toEqual(['1 live']);
  second.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
}, 180_000);
