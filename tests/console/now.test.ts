import { beforeAll, expect, test } from 'vitest';
import { readNow } from '../../server/console/now.js';
import { readSeries } from '../../server/console/series.js';
import { ReadTimeoutError, readOnly, unlessTooSlow } from '../../server/console/read.js';
import { createKysely } from '../../server/db/kysely.js';
import { BUCKET_BOUNDS_MS } from '../../server/lease/samples.js';
import { sql as raw } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { insertRow, insertWorker, sql } from '../support/factories.js';
import { itemFrom, staleItem } from './rows.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
const limits = { stagedBytesTtlSeconds: 21_600, publishDeadAfterSeconds: 300 };

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});

const items = async () => (await readNow(kysely, limits)).queues.find((queue) => queue.slug === 'parse-items')!;

test('an empty database gives zeros and nothing to attend to', async () => {
  const view = await readNow(kysely, limits);
  expect(view.queues.map((queue) => queue.slug).slice(0, 2)).toEqual(['parse-jobs', 'parse-items']);
  for (const queue of view.queues) expect(queue).toMatchObject({ queued: 0, running: 0, stale: 0, failedLastHour: 0, used: false, oldestSince: null });
  expect(view).toMatchObject({ staleRows: [], poisonRows: [], nearTtl: null, redeploy: null, versions: [], capabilities: [] });
  expect(view.asOf).toBeGreaterThan(view.epoch);
});

test('a row counts in the state it is in, and a stale one names its worker', async () => {
  const worker = await insertWorker(database.pool, { label: 'worker-b', version: 'v42', heartbeat_at: sql("now() - interval '132 seconds'") });
  const stale = await staleItem(database.pool, 42, { worker_id: worker.id });
  await itemFrom(database.pool, 9);
  await itemFrom(database.pool, 4, { run_after: sql("now() + interval '1 minute'") });
  await itemFrom(database.pool, 30, { state: 'failed' });
  await itemFrom(database.pool, 90_000, { state: 'failed', finished_at: sql("now() - interval '2 hours'") });
  expect(await items()).toMatchObject({ queued: 2, running: 1, stale: 1, failedLastHour: 1, used: true, paused: null, breaker: null });
  const view = await readNow(kysely, limits);
  expect(view.staleRows.map((row) => [row.id, row.worker?.label])).toEqual([[stale.id, 'worker-b']]);
  expect(Math.round((view.asOf - (await items()).oldestSince!) / 1000)).toBeGreaterThanOrEqual(9);
});

test('percentiles and throughput come from the closed minutes of the last hour', async () => {
  const histogram = (bucket: number) => Array.from({ length: BUCKET_BOUNDS_MS.length + 1 }, (_, index) => (index === bucket ? 10 : 0));
  const minute = (ago: number, ended: number) => insertRow(database.pool, 'queue_minutes', {
    queue: 'parse_items', minute: sql(`date_trunc('minute', now()) - interval '${ago} minutes'`), enqueued: 0, acquired: 0, succeeded: ended, failed: 1, cancelled: 0,
    given_back: 0, lost: 0, late_writes: 0, waits: histogram(14), runs: histogram(20),
  });
  await minute(1, 4);
  await minute(3, 7);
  await minute(75, 100);
  const queue = await items();
  expect(queue.throughput).toHaveLength(60);
  expect(queue.throughput.slice(-3)).toEqual([8, 0, 5]);
  expect(queue.wait.p50).toBeGreaterThan(BUCKET_BOUNDS_MS[13]!);
  expect(queue.wait.p95).toBeLessThanOrEqual(BUCKET_BOUNDS_MS[14]!);
  const lane = (await readSeries(kysely)).queues.find((each) => each.slug === 'parse-items')!;
  expect(lane.points.map((point) => point.ended).filter((ended) => ended > 0)).toEqual([8, 5]);
});

test('the charts are marked with what operators did in the last hour, not with what was refused or is older', async () => {
  const act = (action: string, minutesAgo: number, refused: boolean) => insertRow(database.pool, 'operator_actions', {
    attempt_id: uuidv7(), at: sql(`now() - interval '${minutesAgo} minutes'`), actor_kind: 'operator', actor_name: 'ada', actor_role: 'operator', via: 'page', action,
    target_kind: 'queue', target_id: 'parse_items', outcome: refused ? 'refused' : 'applied', refusal: refused ? 'already_paused' : null, answer: 'A test.',
  });
  await act('pause_queue', 20, false);
  await act('pause_queue', 10, true);
  await act('resume_queue', 90, false);
  const { actions, asOf } = await readSeries(kysely);
  expect(actions).toEqual([{ at: expect.any(Number), action: 'pause_queue', by: 'ada' }]);
  expect(Math.round((asOf - actions[0]!.at) / 60_000)).toBe(20);
});

test('a paused queue, a resting one, poison and uploads near their end are all there with what is needed to say so', async () => {
  await insertRow(database.pool, 'queue_pauses', { queue: 'parse_items', paused_by: 'ada', reason: 'disk' });
  await insertRow(database.pool, 'breakers', { queue: 'parse_items', opened_at: sql('now()'), retry_at: sql("now() + interval '30 seconds'"), failures: 2, reason: '503' });
  const poison = await itemFrom(database.pool, 60, { state: 'failed', error_code: 'worker_lost', lost_leases: 10 });
  await database.pool.query(`update queue_clocks set ran_seconds = 20000 where queue = 'parse_items'`);
  const view = await readNow(kysely, limits);
  expect(await items()).toMatchObject({ paused: { by: 'ada', reason: 'disk' }, breaker: { failures: 2, reason: '503' } });
  expect(view.poisonRows.map((row) => row.id)).toEqual([poison.id]);
  expect(view.nearTtl).toMatchObject({ count: 2, secondsLeft: 1_600 });
});

test('what no live process knows is counted from the front of its queue, with how long it has waited', async () => {
  const none = async () => (await readNow(kysely, limits)).newerWaits.filter((wait) => wait.table === 'parse_items');
  const worker = await insertWorker(database.pool, { kinds: { parse_items: { pdf: 1 } } });
  expect(await none()).toEqual([]);
  await itemFrom(database.pool, 240, { schema_version: 2 });
  await itemFrom(database.pool, 20, { schema_version: 2 });
  await itemFrom(database.pool, 7, { kind: 'epub' });
  await itemFrom(database.pool, 5, { kind: 'epub', run_after: sql("now() + interval '1 minute'") });
  const view = await readNow(kysely, limits);
  expect(view.knownKinds.parse_items).toEqual({ pdf: 1 });
  expect(view.newerWaits.map(({ kind, schemaVersion, rows }) => [kind, schemaVersion, rows]).sort()).toEqual([['epub', 1, 1], ['pdf', 2, 2]]);
  expect(Math.round((view.asOf - view.newerWaits.find(({ kind }) => kind === 'pdf')!.oldestSince) / 1000)).toBeGreaterThanOrEqual(240);
  await database.pool.query(`update workers set kinds = '{"parse_items": {"pdf": 2, "epub": 1}}' where id = $1`, [worker.id]);
  expect(await none()).toEqual([]);
  await database.pool.query(`delete from parse_items where schema_version = 2 or kind = 'epub'; delete from workers where id = '${worker.id}'`);
});

test('only live processes that are not draining count for a capability; a redeploy shows while it is open', async () => {
  await insertWorker(database.pool, { version: 'v42', draining_since: sql('now()'), drained_by: 'shutdown', kill_deadline_at: sql("now() + interval '14 seconds'") });
  expect((await readNow(kysely, limits)).capabilities).toEqual([]);
  await insertWorker(database.pool, { version: 'v43' });
  await insertRow(database.pool, 'redeploys', { id: '01a22d66-f34f-7d36-83ed-0a14815d92f9', role: 'worker', from_version: 'v42', to_version: 'v43', started_at: sql('now()') });
  const view = await readNow(kysely, limits);
  expect(view.capabilities).toEqual(['parse']);
  expect(view.redeploy).toMatchObject({ fromVersion: 'v42', toVersion: 'v43' });
  expect(view.versions.map(({ version, live, draining }) => [version, live, draining])).toEqual([['v42', 0, 1], ['v43', 1, 0]]);
});

test('a query that takes too long becomes a banner, and writes are refused in a page\'s transaction', async () => {
  const slow = readOnly(kysely, async (reader) => raw`select pg_sleep(30)`.execute(reader));
  await expect(slow).rejects.toThrow(ReadTimeoutError);
  await expect(unlessTooSlow(Promise.reject(new ReadTimeoutError({ cause: null })))).resolves.toBeNull();
  await expect(unlessTooSlow(Promise.reject(new Error('other')))).rejects.toThrow('other');
  await expect(readOnly(kysely, (reader) => raw`delete from workers`.execute(reader))).rejects.toThrow(/read-only transaction/);
});
