import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, insertParseJob } from '../support/factories.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { until } from '../support/until.js';
import { spooled } from './spooled.js';
import { pdfBytes, upload } from './uploads.js';

let database: TestDatabase;
let web: WebUnderTest;
let other: WebUnderTest;
let token: string;

beforeAll(async () => {
  database = await testDatabase();
  const config = { maxStagedBytesPerUser: 10_000 };
  web = await startWeb(database, { config });
  other = await startWeb(database, { config });
  token = await apiToken(database);
});
afterAll(() => Promise.all([web.close(), other.close()]));
beforeEach(() => database.pool.query('truncate parse_jobs cascade'));

const of = (userId: string, bytes = 200) => ({ userId, files: [{ name: 'a.pdf', bytes: pdfBytes(bytes) }] });

test('a fourth upload while three are open is refused with limit, current and when to try again', async () => {
  for (const state of ['awaiting', 'queued', 'running'] as const) await insertParseJob(database.pool, { user_id: 'busy', state });
  await insertParseJob(database.pool, { user_id: 'busy', state: 'succeeded' });
  const answer = await upload(web.url, token, of('busy'));
  expect(answer.status).toBe(429);
  expect(answer.body).toMatchObject({ code: 'too_many_active_jobs', limit: 3, current: 3 });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect((await upload(web.url, token, of('someone else'))).status).toBe(202);
});

test('an upload that would exceed the staged bytes is refused with limit and current, one that just fits is not', async () => {
  const job = await insertParseJob(database.pool, { user_id: 'full' });
  await insertParseItem(database.pool, { user_id: 'full', job_id: job.id, byte_size: 9_800 });
  const answer = await upload(web.url, token, of('full', 201));
  expect([answer.status, answer.body.code, answer.body.limit, answer.body.current]).toEqual([429, 'staged_bytes_exceeded', 10_000, 9_800]);
  expect((await upload(web.url, token, of('full', 200))).status).toBe(202);
});

test('sums beyond what a 32-bit number holds are still sums', async () => {
  const job = await insertParseJob(database.pool, { user_id: 'vast' });
  for (let k = 0; k < 3; k++) await insertParseItem(database.pool, { user_id: 'vast', job_id: job.id, byte_size: 2_000_000_000 });
  const answer = await upload(web.url, token, of('vast'));
  expect([answer.body.code, answer.body.current]).toEqual(['staged_bytes_exceeded', 6_000_000_000]);
});

test('fifty uploads at once by one user, over two processes, admit exactly three', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, k) => upload(k % 2 ? web.url : other.url, token, of('eager'))));
  expect(answers.filter((answer) => answer.status === 202)).toHaveLength(3);
  expect(answers.filter((answer) => answer.body.code === 'too_many_active_jobs')).toHaveLength(47);
  const { rows } = await database.pool.query('select count(*)::int as jobs, sum(total_children)::int as items from parse_jobs');
  expect(rows).toEqual([{ jobs: 3, items: 3 }]);
  expect([...await spooled(web.spoolFolder), ...await spooled(other.spoolFolder)]).toEqual([]);
});

test('fifty at once never stage more than the cap', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, k) => upload(k % 2 ? web.url : other.url, token, of('large', 4_000))));
  expect(answers.filter((answer) => answer.status === 202)).toHaveLength(2);
  const { rows } = await database.pool.query<{ staged: number }>('select sum(byte_size)::int as staged from parse_items');
  expect(rows[0]!.staged).toBeLessThanOrEqual(10_000);
});

test('many users at once wait for the pool, not for each other, and all are admitted', async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, k) => upload(web.url, token, of(`user ${k}`))));
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 202));
});

test('a connection lost in the middle is a 503, stages nothing, and the same upload works right after', async () => {
  const blocker = await database.pool.connect();
  await blocker.query('begin');
  await blocker.query(`select pg_advisory_xact_lock(hashtextextended('unlucky', 1))`);
  const answer = upload(web.url, token, of('unlucky'));
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  await until(async () => (await database.pool.query(waiting)).rowCount === 1);
  await database.pool.query(`select pg_terminate_backend(pid) from (${waiting}) as waiting`);
  expect([(await answer).status, (await answer).body.code]).toEqual([503, 'database_unreachable']);
  await blocker.query('rollback');
  blocker.release();
  expect((await database.pool.query('select 1 from parse_jobs')).rowCount).toBe(0);
  expect(await spooled(web.spoolFolder)).toEqual([]);
  expect((await upload(web.url, token, of('unlucky'))).status).toBe(202);
});

test('a user whose lock is held elsewhere holds up nobody else, however many uploads of theirs wait', async () => {
  const blocker = await database.pool.connect();
  await blocker.query('begin');
  await blocker.query(`select pg_advisory_xact_lock(hashtextextended('slow', 1))`);
  const waiting = Array.from({ length: 20 }, () => upload(web.url, token, of('slow')));
  await until(async () => (await database.pool.query(`select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`)).rowCount === 1);
  expect((await upload(web.url, token, of('quick'))).status).toBe(202);
  await blocker.query('commit');
  blocker.release();
  expect((await Promise.all(waiting)).filter((answer) => answer.status === 202)).toHaveLength(3);
});
