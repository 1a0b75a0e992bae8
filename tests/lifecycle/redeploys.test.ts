/** A redeploy: SIGTERM gives work back, uncharged, and another process has it within two seconds. Nobody polls here: POLL_SECONDS is long. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { inTransaction } from '../../server/db/connection.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument, insertParseJob } from '../support/factories.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { until } from '../support/until.js';
import { startBackend, type Backend } from './backend.js';
import { shortLimits, startFleet, type Fleet, type WebRun } from './fleet.js';
import { isGone, someParserOf } from './parsers-of.js';
import { causesOf, expectAllDoneOnce, itemRow, msBetween, untilHeldBy, untilItem } from './rows.js';
import { slowPdf } from './slow-pdfs.js';

const RESUMED_WITHIN_MS = 2_000;
/** A process may use its whole drain, and then has to close what it opened (ms). */
const DRAIN_MS = 4_000;
const CLOSE_MS = 5_000;

let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let backend: Backend;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url, { POLL_SECONDS: '60', WORKER_CONCURRENCY: '1' });
  web = await fleet.web();
  backend = await startBackend(database.pool);
}, 300_000);
afterAll(() => fleet.end());

/** Uploads one slow file and waits until that worker is in the middle of it. The parser is stopped there, so that the middle lasts. */
async function inMidItem(worker: { pid: number; id: string }) {
  const { jobId, items: [item] } = await backend.uploads([{ name: 'slow.pdf', bytes: slowPdf() }], web.url);
  await untilHeldBy(database.pool, item!.itemId, worker.id);
  const parser = await someParserOf(worker.pid);
  process.kill(parser, 'SIGSTOP');
  return { jobId, itemId: item!.itemId, parser };
}

test('SIGTERM in mid-item gives the item back uncharged, the next version has it within two seconds, and the redeploy is on record', async () => {
  const old = await fleet.worker({ APP_VERSION: 'v1' });
  const { jobId, itemId, parser } = await inMidItem(old);
  const next = await fleet.worker({ APP_VERSION: 'v2' });
  expect(await redeploys()).toEqual([{ from_version: 'v1', to_version: 'v2', ended: false }]);

  const asked = performance.now();
  old.kill('SIGTERM');
  const given = await untilItem(database.pool, itemId, (row) => row.workerId !== old.id, 'given back');
  expect(given).toMatchObject({ attempt: 0, lostLeases: 0 });
  expect(await old.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - asked).toBeLessThan(DRAIN_MS + CLOSE_MS);
  expect(isGone(parser)).toBe(true);

  await untilHeldBy(database.pool, itemId, next.id);
  expect(await msBetween(database.pool, itemId, 'drain', 'acquire')).toBeLessThan(RESUMED_WITHIN_MS);
  await backend.outcome(jobId, web.url);
  expect(await causesOf(database.pool, itemId)).toEqual(['enqueue', 'acquire', 'drain', 'acquire', 'succeed']);
  expect(await itemRow(database.pool, itemId)).toMatchObject({ state: 'succeeded', token: '2', attempt: 0, lostLeases: 0, hasBytes: false });
  await until(async () => (await redeploys())[0]?.ended, { what: 'the end of the redeploy' });
  await expectAllDoneOnce(database.pool, [jobId], database.config(shortLimits));
  next.kill('SIGTERM');
  await next.ended;
}, 120_000);

async function redeploys() {
  const { rows } = await database.pool.query<{ from_version: string; to_version: string; ended: boolean }>(
    `select from_version, to_version, ended_at is not null as ended from redeploys where role = 'worker'`);
  return rows;
}

test('the same beside a backlog of 20,000 rows that the other worker is walking through', async () => {
  const old = await fleet.worker();
  const { jobId, itemId } = await inMidItem(old);
  await insertBacklog(20_000);
  const other = await fleet.worker({ WORKER_CONCURRENCY: '2' });
  await until(async () => await backlogDone() > 200, { timeoutMs: 60_000, what: 'a few hundred rows of the backlog done' });

  old.kill('SIGTERM');
  await untilHeldBy(database.pool, itemId, other.id);
  expect(await itemRow(database.pool, itemId)).toMatchObject({ token: '2', attempt: 0, lostLeases: 0 });
  expect(await msBetween(database.pool, itemId, 'drain', 'acquire')).toBeLessThan(RESUMED_WITHIN_MS);
  expect(await backlogDone()).toBeLessThan(20_000);
  await backend.outcome(jobId, web.url);
  for (const one of [old, other]) one.kill('SIGTERM');
  await Promise.all([old.ended, other.ended]);
  await database.pool.query(`delete from parse_jobs where user_id = 'backlog'`);
  await expectAllDoneOnce(database.pool, [jobId], database.config(shortLimits));
}, 180_000);

/** Files whose content the user has already: each is done in a moment, so that the low-water mark moves fast. In one transaction, as an upload is. */
async function insertBacklog(rows: number): Promise<void> {
  await inTransaction(database.pool, async (tx) => {
    const document = await insertDocument(tx, { user_id: 'backlog' });
    const job = await insertParseJob(tx, { user_id: 'backlog', open_children: rows, total_children: rows });
    await tx.query(`
      insert into parse_items (id, job_id, user_id, session_id, filename, byte_size, content_sha256, file_bytes, state)
      select id, $2, 'backlog', 'backlog', 'again.pdf', 8, (select content_sha256 from documents where id = $3), '\\x255044462d312e37'::bytea, 'queued'
        from unnest($1::uuid[]) as id`, [Array.from({ length: rows }, () => uuidv7()), job.id, document.id]);
  });
}

async function backlogDone(): Promise<number> {
  const { rows } = await database.pool.query<{ done: number }>(`select succeeded_children as done from parse_jobs where user_id = 'backlog'`);
  return rows[0]!.done;
}

test('a second signal ends the process at once; its row waits for the lease, and is then taken up', async () => {
  const old = await fleet.worker({ DRAIN_SECONDS: '60' });
  const { jobId, itemId, parser } = await inMidItem(old);
  old.kill('SIGTERM');
  await old.says(/"event":"stopping"/);
  await until(() => {
    old.kill('SIGINT');   // within a second it is still the same press
    return old.child.exitCode !== null;
  }, { what: 'the end of the process' });
  expect(await old.ended).toEqual({ code: 1, signal: null });
  process.kill(parser, 'SIGCONT');
  await until(() => isGone(parser), { what: 'the end of the orphaned parser' });
  expect(await itemRow(database.pool, itemId)).toMatchObject({ state: 'running', workerId: old.id, token: '1' });

  await fleet.worker();
  await backend.outcome(jobId, web.url);
  expect(await causesOf(database.pool, itemId)).toEqual(['enqueue', 'acquire', 'sweep', 'acquire', 'succeed']);
  expect(await itemRow(database.pool, itemId)).toMatchObject({ attempt: 0, lostLeases: 1 });
  await expectAllDoneOnce(database.pool, [jobId], database.config(shortLimits));
}, 120_000);
