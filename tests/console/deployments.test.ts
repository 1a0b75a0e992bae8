import { beforeAll, expect, test } from 'vitest';
import { readDeploymentPage } from '../../server/console/deployment.js';
import { readDeployments } from '../../server/console/deployments.js';
import { matches } from '../../server/console/live-match.js';
import { readNow } from '../../server/console/now.js';
import { parseQueueFilters } from '../../server/console/queue-filters.js';
import { readQueuePage } from '../../server/console/queue-page.js';
import { createKysely } from '../../server/db/kysely.js';
import { acquire } from '../../server/lease/acquire.js';
import { deployments } from '../../server/lease/queues.js';
import { alice } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { accepted, ask, DEAD_AFTER, deskOf, fallSilent, newApp } from '../deployments/world.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
const settings = { publishDeadAfterSeconds: DEAD_AFTER, orchestratorUrl: 'https://hosting.example/api' };
const none = parseQueueFilters(new URLSearchParams());
const limits = { stagedBytesTtlSeconds: 21_600, publishDeadAfterSeconds: DEAD_AFTER };

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});

const end = (id: string, state: 'live' | 'failed', error: string | null = null) => database.pool.query(
  `update deployments set state = $2, finished_at = now(), heartbeat_at = null, worker_id = null, lease_expires_at = null, error_code = $3::text, error_message = $3::text,
          live_release = case when $2 = 'live' then jsonb_build_object('releaseId', 'r-' || publish_no, 'url', 'https://app.example', 'publishNo', publish_no, 'at', now()) else live_release end where id = $1`, [id, state, error]);

test('an app is one row with its live release, its lock, and who was refused meanwhile', async () => {
  const desk = deskOf(database.pool);
  const app = newApp();
  const id = await accepted(desk, app);
  await end(id, 'live');
  await accepted(desk, app);
  await ask(desk, { ...app, requestedBy: 'agent', source: 'builder' });
  const page = await readDeployments(kysely, none, settings);
  expect([page.rows.length, page.deadAfterMs, page.hosting]).toEqual([1, DEAD_AFTER * 1000, 'orchestrator']);
  expect(page.rows[0]).toMatchObject({ id, state: 'building', columns: { slug: app.slug, publish_no: 2 }, worker: null });
  expect(page.facts[id]).toMatchObject({ release: { publishNo: 1, url: 'https://app.example', at: expect.any(Number) }, refused: 1, cancelRequestedAt: null });
  const view = await readDeploymentPage(kysely, id, settings);
  expect(view!.attempts.map((one) => [one.publishNo, one.outcome, one.errorCode])).toEqual([[2, 'building', null], [1, 'live', null]]);
  expect(view!.attempts[1]!.release).toMatchObject({ releaseId: 'r-1' });
  expect(view!.refusals).toEqual([expect.objectContaining({ code: 'publish_in_progress', requestedBy: 'agent', source: 'builder', publishNo: 2 })]);
  expect(view!.page.events.map((event) => event.cause)).toContain('publish');
  await end(id, 'failed', 'build_failed');
  expect((await readDeploymentPage(kysely, id, settings))!.attempts[0]).toMatchObject({ outcome: 'failed', errorCode: 'build_failed' });
  await accepted(desk, app);
  expect((await readDeploymentPage(kysely, id, settings))!.attempts.map((one) => one.errorCode)).toEqual([null, 'build_failed', null]);
});

test('a lock that is silent for too long needs attention, and one that beats does not', async () => {
  const id = await accepted(deskOf(database.pool), newApp());
  await fallSilent(database.pool, id, DEAD_AFTER - 5);
  expect((await readNow(kysely, limits)).stuckLocks).toEqual([]);
  await fallSilent(database.pool, id, DEAD_AFTER + 60);
  const [stuck] = (await readNow(kysely, limits)).stuckLocks;
  expect([stuck!.row.id, stuck!.refused, stuck!.reclaimableAt < Date.now()]).toEqual([id, 0, true]);
});

test('the queue of deployments tells waiting from driven, and its filters agree with those of the live board', async () => {
  await database.pool.query('delete from deployments');
  const desk = deskOf(database.pool);
  const [waiting, driven, over] = [await accepted(desk, newApp()), await accepted(desk, newApp()), await accepted(desk, newApp())];
  await end(over, 'live');
  await database.pool.query(`update deployments set run_after = now() + interval '1 hour' where id = $1`, [waiting]);
  await acquire(database.pool, deployments, alice, 1);
  const all = await readQueuePage(kysely, deployments, none);
  expect(all.open).toEqual({ awaiting: 0, queued: 1, running: 1, stale: 0 });
  await database.pool.query(`update deployments set lease_expires_at = now() - interval '1 second' where id = $1`, [driven]);
  const rows = (await readQueuePage(kysely, deployments, none)).rows;
  for (const query of ['state=building', 'state=live', 'state=stale', 'state=failed,live', 'worker=w-alice', 'session=s', 'error=x', 'state=queued']) {
    const filters = parseQueueFilters(new URLSearchParams(query));
    const page = await readQueuePage(kysely, deployments, filters);
    expect([query, page.rows.map((row) => row.id)]).toEqual([query, rows.filter((row) => matches(filters, row, page.asOf)).map((row) => row.id)]);
  }
});

test('where there is no orchestrator, or the stub, the page says so; an unknown app is none', async () => {
  expect((await readDeployments(kysely, none, { publishDeadAfterSeconds: 300 })).hosting).toBe('none');
  expect((await readDeployments(kysely, none, { publishDeadAfterSeconds: 300, orchestratorUrl: 'http://127.0.0.1:1234/stub-orchestrator' })).hosting).toBe('stub');
  expect(await readDeploymentPage(kysely, '00000000-0000-7000-8000-000000000000', settings)).toBeNull();
});
