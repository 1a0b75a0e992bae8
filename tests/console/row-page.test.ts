import { beforeAll, expect, test } from 'vitest';
import { readRowPage } from '../../server/console/row-page.js';
import { parseWorkersFilter, readWorkers } from '../../server/console/workers.js';
import { createKysely } from '../../server/db/kysely.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { insertDocument, insertParseJob, insertRow, insertWorker, sql } from '../support/factories.js';
import { idFrom, itemFrom, staleItem } from './rows.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});

test('a row that does not exist is nobody\'s page', async () => {
  expect(await readRowPage(kysely, parseItems, idFrom(1))).toBeNull();
});

test('a row comes with its history newest first, its job, document and session', async () => {
  const job = await insertParseJob(database.pool, { state: 'succeeded', session_id: 's-9', total_children: 1 });
  const document = await insertDocument(database.pool, { page_count: 12, failed_pages: [3] });
  const item = await itemFrom(database.pool, 60, { state: 'succeeded', job_id: job.id, session_id: 's-9', document_id: document.id });
  await insertRow(database.pool, 'session_sources', { user_id: 'user-1', session_id: 's-9', document_id: document.id, linked_by: 'parse_item' });
  for (const cause of ['enqueue', 'acquire', 'succeed']) await insertRow(database.pool, 'queue_events', { queue: 'parse_items', row_id: item.id, cause, lease_token: '9007199254740993' });
  const page = (await readRowPage(kysely, parseItems, item.id))!;
  expect(page.events.map((event) => event.cause)).toEqual(['succeed', 'acquire', 'enqueue']);
  expect(page.events[0]!.leaseToken).toBe('9007199254740993');
  expect(page.links.parent?.row.id).toBe(job.id);
  expect(page.links.document).toMatchObject({ id: document.id, pages: 12, chunks: 2, embedded: 0, failedPages: [3] });
  expect(page.links.session).toEqual({ id: 's-9', userId: 'user-1', documents: 1 });
  expect(JSON.stringify(page)).not.toContain('ten letter');
  const parent = (await readRowPage(kysely, parseJobs, job.id))!;
  expect(parent.links.children?.rows.map((row) => row.id)).toEqual([item.id]);
});

test('of more parts than are shown, what is open and what failed is kept', async () => {
  const job = await insertParseJob(database.pool, { total_children: 103, open_children: 1 });
  for (let n = 0; n < 101; n++) await itemFrom(database.pool, 300 - n, { state: 'succeeded', job_id: job.id });
  const failed = await itemFrom(database.pool, 20, { state: 'failed', job_id: job.id });
  const open = await itemFrom(database.pool, 10, { job_id: job.id });
  const { children } = (await readRowPage(kysely, parseJobs, job.id))!.links;
  expect([children!.rows.length, children!.more]).toEqual([100, true]);
  expect(children!.rows.slice(-2).map((row) => row.id)).toEqual([failed.id, open.id]);
});

test('a long history is cut and says so', async () => {
  const item = await itemFrom(database.pool, 60);
  await database.pool.query(`insert into queue_events (queue, row_id, cause) select 'parse_items', $1, 'retry' from generate_series(1, 230)`, [item.id]);
  const page = (await readRowPage(kysely, parseItems, item.id))!;
  expect([page.events.length, page.moreEvents]).toEqual([200, true]);
});

test('a stale row knows when the next sweep comes and whether anyone could take it', async () => {
  await database.pool.query(`update sweeps set last_run_at = now() - interval '12 seconds', interval_seconds = 30`);
  const worker = await insertWorker(database.pool);
  const item = await staleItem(database.pool, 5, { worker_id: worker.id });
  const page = (await readRowPage(kysely, parseItems, item.id))!;
  expect(page).toMatchObject({ capability: 'parse', capableWorkers: 1, pausedReason: null, breakerUntil: null, sweep: { intervalSeconds: 30 } });
  expect(Math.round((page.asOf - page.sweep.lastRunAt!) / 1000)).toBe(12);
});

test('workers are the live ones and those that ended within the hour, or all of them in pages', async () => {
  await insertWorker(database.pool, { label: 'old', started_at: sql("now() - interval '1 day'"), stopped_at: sql("now() - interval '3 hours'") });
  await insertWorker(database.pool, { label: 'just-stopped', started_at: sql("now() - interval '2 hours'"), stopped_at: sql("now() - interval '3 minutes'") });
  const recent = await readWorkers(kysely);
  expect(recent.workers.map((worker) => worker.label)).toEqual(['test', 'just-stopped']);
  expect(recent.workers[0]!.leases).toBe(1);
  for (let n = 0; n < 60; n += 1) await insertWorker(database.pool, { label: `many-${n}`, started_at: sql("now() - interval '5 days'"), stopped_at: sql("now() - interval '4 days'") });
  const first = await readWorkers(kysely, parseWorkersFilter(new URLSearchParams('show=all')));
  const second = await readWorkers(kysely, parseWorkersFilter(new URLSearchParams(`show=all&before=${first.next}`)));
  const ids = [...first.workers, ...second.workers].map((worker) => worker.id);
  expect([ids.length, new Set(ids).size, second.next]).toEqual([63, 63, null]);
});
