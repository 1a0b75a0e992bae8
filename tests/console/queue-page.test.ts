import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { matches, noFilters } from '~/format/filters';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import { FILTER_STATES } from '../../server/console/queue-filters.js';
import { PAGE_ROWS, readQueuePage } from '../../server/console/queue-page.js';
import { selectRowsNow } from '../../server/console/row-select.js';
import { createKysely } from '../../server/db/kysely.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { insertParseJob, insertWorker, sql } from '../support/factories.js';
import { idFrom, itemFrom, staleItem } from './rows.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});

const read = (filters: Partial<QueueFilters> = {}) => readQueuePage(kysely, parseItems, { ...noFilters, ...filters });
const idsOf = async (filters: Partial<QueueFilters>) => (await read(filters)).rows.map((row) => row.id);

test('an empty queue is told apart from a filter that nothing matches', async () => {
  expect(await read()).toMatchObject({ rows: [], empty: true, matching: 0, next: null, previous: null });
  await itemFrom(database.pool, 5, { user_id: 'first' });
  expect(await read({ user: 'nobody' })).toMatchObject({ rows: [], matching: 0 });
});

test('a row is shown with its holder, its instants on the database clock and no bytes', async () => {
  const worker = await insertWorker(database.pool, { label: 'worker-a', version: 'v43' });
  const item = await itemFrom(database.pool, 30, { state: 'running', worker_id: worker.id, user_id: 'shown', filename: '<b>x\u202e.pdf', byte_size: 3_000_000_000 });
  const page = await read({ user: 'shown' });
  const [row] = page.rows;
  expect(row).toMatchObject({
    table: 'parse_items', id: item.id, state: 'running', leaseToken: '1', worker: { id: worker.id, label: 'worker-a', version: 'v43' },
    columns: { filename: '<b>x\u202e.pdf', byte_size: 3_000_000_000, user_id: 'shown' },
  });
  expect(row!.leaseExpiresAt! - page.asOf).toBeGreaterThan(50_000);
  expect(page.asOf - row!.createdAt).toBeGreaterThanOrEqual(30_000);
  expect(JSON.stringify(page)).not.toContain('file_bytes');
  expect(page.holders).toEqual([{ label: 'worker-a', version: 'v43' }]);
});

test('a row that nobody holds names its last holder', async () => {
  const worker = await insertWorker(database.pool, { label: 'gone-by', version: 'v42' });
  const item = await itemFrom(database.pool, 9, { state: 'succeeded' });
  await database.pool.query(`insert into queue_events (queue, row_id, from_state, to_state, cause, worker_id, worker_version) values ('parse_items', $1, 'queued', 'running', 'acquire', $2, 'v42')`, [item.id, worker.id]);
  const { rows: [row] } = await selectRowsNow({ kysely, pool: database.pool }, parseItems, [item.id, idFrom(0)]);
  expect(row).toMatchObject({ worker: null, lastWorker: { id: worker.id, label: 'gone-by', version: 'v42' } });
});

test('the live board reads rows by id exactly as a page shows them, with its moment, also when none of them exists', async () => {
  const worker = await insertWorker(database.pool, { label: 'both-ways', version: 'v44' });
  await itemFrom(database.pool, 11, { user_id: 'both-ways', state: 'running', worker_id: worker.id, filename: '<b>ü\u202e.pdf', byte_size: '3000000000' });
  await itemFrom(database.pool, 10, { user_id: 'both-ways', state: 'failed', error_code: 'internal', error_message: 'größer "als" gedacht' });
  const page = await read({ user: 'both-ways' });
  const now = (ids: string[]) => selectRowsNow({ kysely, pool: database.pool }, parseItems, ids);
  const { rows, asOf, epoch } = await now(page.rows.map((row) => row.id));
  expect(rows).toHaveLength(2);
  expect(rows).toEqual(page.rows);
  expect(epoch).toBe(page.epoch);
  expect(asOf).toBeGreaterThanOrEqual(page.asOf);
  expect(await now([idFrom(0)])).toMatchObject({ epoch, rows: [] });
});

test('pages walk the whole list newest first, forward and back, without a gap or a double', async () => {
  const made: string[] = [];
  for (let n = 0; n < PAGE_ROWS * 2 + 7; n += 1) made.push((await itemFrom(database.pool, 5_000 - n, { user_id: 'walker', state: 'succeeded' })).id);
  made.reverse();
  const first = await read({ user: 'walker' });
  const second = await read({ user: 'walker', before: first.next });
  const third = await read({ user: 'walker', before: second.next });
  expect([...first.rows, ...second.rows, ...third.rows].map((row) => row.id)).toEqual(made);
  expect([first.previous, third.next, first.matching]).toEqual([null, null, made.length]);
  const back = await read({ user: 'walker', after: third.previous });
  expect(back.rows.map((row) => row.id)).toEqual(second.rows.map((row) => row.id));
  const front = await read({ user: 'walker', after: back.previous });
  expect(front.rows.map((row) => row.id)).toEqual(first.rows.map((row) => row.id));
  expect(front.previous).toBeNull();
});

test('stale means running with a lease that has ended, and may be asked for beside other states', async () => {
  const user_id = 'stale-user';
  const stale = await staleItem(database.pool, 42, { user_id });
  const held = await itemFrom(database.pool, 60, { user_id, state: 'running' });
  const queued = await itemFrom(database.pool, 50, { user_id });
  expect(await idsOf({ user: user_id, states: ['stale'] })).toEqual([stale.id]);
  expect(await idsOf({ user: user_id, states: ['stale', 'queued'] })).toEqual([queued.id, stale.id]);
  expect(await idsOf({ user: user_id, states: ['running', 'stale'] })).toEqual([held.id, stale.id]);
  expect((await read()).open.stale).toBe(1);
});

test('a queue page of jobs has their states and columns', async () => {
  await insertParseJob(database.pool, { total_children: 3, open_children: 2 });
  const page = await readQueuePage(kysely, parseJobs, { ...noFilters, states: ['awaiting'] });
  expect(page.rows[0]!.columns).toMatchObject({ total_children: 3, open_children: 2 });
  expect(page.open.awaiting).toBeGreaterThan(0);
});

test('a filter that the other states of a held row cannot meet gives an empty page, not an error', async () => {
  expect(await idsOf({ worker: 'worker-a', states: ['queued'] })).toEqual([]);
  expect(await read({ worker: 'no such', version: 'x', states: ['failed', 'stale'] })).toMatchObject({ rows: [], matching: 0 });
});

test('the browser agrees with the database on which rows match which filters', async () => {
  const user_id = 'agreed';
  const worker = await insertWorker(database.pool, { label: 'agree', version: 'v9' });
  await staleItem(database.pool, 30, { user_id, worker_id: worker.id });
  await itemFrom(database.pool, 400, { user_id, state: 'running', session_id: 's-2' });
  await itemFrom(database.pool, 4_000, { user_id, state: 'queued', error_code: 'internal', session_id: 's-2' });
  await itemFrom(database.pool, 100_000, { user_id, state: 'failed' });
  await itemFrom(database.pool, 10, { user_id, state: 'succeeded', error_code: 'internal' });
  await itemFrom(database.pool, 20, { user_id, state: 'cancelled', finished_at: sql('now()') });
  const everything = (await read({ user: user_id })).rows;
  const maybe = <T>(...values: T[]) => fc.constantFrom(null, null, ...values);
  const filters = fc.record({
    states: fc.subarray([...FILTER_STATES]), worker: maybe(worker.id, 'agree', 'w-test'), version: maybe('v9', 'dev'), user: fc.constant(user_id),
    session: maybe('s-2', 'session-1'), error: maybe('internal', 'cancelled'), older: maybe(300, 3_600), newer: maybe(300, 3_600), before: fc.constant(null), after: fc.constant(null),
  });
  await fc.assert(fc.asyncProperty(filters, async (made) => {
    const page = await read(made);
    expect(page.rows.map((row) => row.id)).toEqual(everything.filter((row) => matches(made, row, page.asOf)).map((row) => row.id));
    expect(page.matching).toBe(page.rows.length);
  }), { numRuns: 120 });
});
