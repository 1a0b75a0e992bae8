/** Workers, parsers and web killed or frozen in mid-work: nothing is lost, nothing counts against an innocent file, nothing is written late. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { endlessPdf } from '../fixtures/pdfs.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { until } from '../support/until.js';
import { startBackend, type Backend } from './backend.js';
import { isRunning, killAtOnce, shortLimits, startFleet, type Fleet, type WebRun, type WorkerRun } from './fleet.js';
import { isGone, parsersOf, someParserOf } from './parsers-of.js';
import { ageLease, causesOf, expectAllDoneOnce, expectNothingBroken, itemRow, untilHeldBy, untilItem } from './rows.js';
import { quickPdf, slowPdf } from './slow-pdfs.js';

let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let backend: Backend;
let workers: WorkerRun[] = [];

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url);
  web = await fleet.web();
  backend = await startBackend(database.pool);
}, 300_000);

/** Each test has workers of its own. */
afterEach(async () => {
  for (const worker of workers.filter(isRunning)) worker.kill('SIGTERM');
  await Promise.all(workers.map((worker) => worker.ended));
  workers = [];
}, 60_000);
afterAll(() => fleet.end());

async function worker(env: Record<string, string> = {}): Promise<WorkerRun> {
  const one = await fleet.worker(env);
  workers.push(one);
  return one;
}

const config = () => database.config(shortLimits);

test('a parser that computes for longer than the lease keeps the lease, until its own limit ends it; its neighbours are done', async () => {
  await worker({ PARSE_MAX_SECONDS: '14' });
  const { jobId, items } = await backend.uploads([{ name: 'endless.pdf', bytes: endlessPdf() }, ...['a.pdf', 'b.pdf'].map((name) => ({ name, bytes: quickPdf() }))], web.url);
  const id = items[0]!.itemId;
  const beats = new Set<string>();
  const ended = await untilItem(database.pool, id, (row) => {
    if (row.heartbeat) beats.add(row.heartbeat);
    if (row.state === 'running') expect(row.token).toBe('1');
    return row.state === 'failed';
  }, 'the end of the endless file');
  expect(ended).toMatchObject({ token: '1', errorCode: 'took_too_long', lostLeases: 0, hasBytes: false });
  expect(await causesOf(database.pool, id)).toEqual(['enqueue', 'acquire', 'fail']);
  expect(beats.size).toBeGreaterThanOrEqual(3);
  expect(await ranMs(id)).toBeGreaterThan(6_000);
  const job = await backend.outcome(jobId, web.url);
  expect(job.items.map((item) => item.state)).toEqual(['failed', 'succeeded', 'succeeded']);
  await expectNothingBroken(database.pool, config());
}, 120_000);

async function ranMs(id: string): Promise<number> {
  const { rows } = await database.pool.query<{ ran_ms: number }>(`select max(ran_ms) as ran_ms from queue_events where row_id = $1`, [id]);
  return rows[0]!.ran_ms;
}

test('a file under which three parsers die fails as parser_crashed, its bytes erased; its neighbours are done', async () => {
  const one = await worker({ WORKER_CONCURRENCY: '1' });
  const { jobId, items } = await backend.uploads(['victim.pdf', 'a.pdf', 'b.pdf'].map((name, at) => ({ name, bytes: at === 0 ? slowPdf() : quickPdf() })), web.url);
  const id = items[0]!.itemId;
  for (const attempt of [0, 1, 2]) {
    await untilItem(database.pool, id, (row) => row.state === 'running' && row.attempt === attempt, `try ${attempt + 1}`);
    process.kill(await someParserOf(one.pid), 'SIGKILL');   // one slot: it can be no one else's
    await untilItem(database.pool, id, (row) => row.attempt === attempt + 1, `crash ${attempt + 1} counted`);
  }
  expect(await itemRow(database.pool, id)).toMatchObject({ state: 'failed', errorCode: 'parser_crashed', attempt: 3, lostLeases: 0, hasBytes: false, documentId: null });
  const job = await backend.outcome(jobId, web.url);
  expect(job.items.map((item) => [item.state, item.error?.code])).toEqual([['failed', 'parser_crashed'], ['succeeded', undefined], ['succeeded', undefined]]);
  await expectNothingBroken(database.pool, config());
}, 120_000);

test('three workers killed in the middle of an innocent file do not fail it, and their parsers end by themselves', async () => {
  let jobId = '';
  let id = '';
  const upload = async () => {
    const job = await backend.uploads([{ name: 'innocent.pdf', bytes: slowPdf() }], web.url);
    jobId = job.jobId;
    id = job.items[0]!.itemId;
  };
  for (const killed of [1, 2, 3]) {
    const doomed = await worker();
    if (killed === 1) await upload();
    await untilHeldBy(database.pool, id, doomed.id);
    const parser = await someParserOf(doomed.pid);
    await killAtOnce(doomed);
    await until(() => isGone(parser), { what: 'the end of the orphaned parser' });
    await ageLease(database.pool, id);
    await untilItem(database.pool, id, (row) => row.lostLeases === killed, `lease ${killed} taken back`);
  }
  await worker();
  await backend.outcome(jobId, web.url);
  expect(await itemRow(database.pool, id)).toMatchObject({ state: 'succeeded', attempt: 0, lostLeases: 3, token: '4' });
  await expectAllDoneOnce(database.pool, [jobId], config());
}, 180_000);

test('a worker frozen for longer than its lease writes nothing when it thaws; what the second holder wrote stands', async () => {
  const frozen = await worker({ WORKER_CONCURRENCY: '1' });
  const { jobId, items: [item] } = await backend.uploads([{ name: 'frozen.pdf', bytes: slowPdf() }], web.url);
  const id = item!.itemId;
  await untilHeldBy(database.pool, id, frozen.id);
  const parser = await someParserOf(frozen.pid);
  frozen.kill('SIGSTOP');
  const second = await worker();
  await untilHeldBy(database.pool, id, second.id);
  await backend.outcome(jobId, web.url);
  const settled = await itemRow(database.pool, id);
  expect(settled).toMatchObject({ state: 'succeeded', token: '2', lostLeases: 1, attempt: 0 });

  frozen.kill('SIGCONT');
  await frozen.says(/"event":"(lease_deadline|lease_lost|late_writes)"/);
  await until(() => isGone(parser), { what: 'the end of its parser' });
  expect(await itemRow(database.pool, id)).toEqual(settled);
  expect((await causesOf(database.pool, id)).filter((cause) => cause !== 'late_write')).toEqual(['enqueue', 'acquire', 'sweep', 'acquire', 'succeed']);

  second.kill('SIGTERM');
  await second.ended;
  const after = await backend.uploads([{ name: 'after.pdf', bytes: quickPdf() }], web.url);
  await backend.outcome(after.jobId, web.url);
  await expectAllDoneOnce(database.pool, [jobId, after.jobId], config());
}, 120_000);

test('web and worker killed in mid-work lose nothing: what was accepted is done by their successors', async () => {
  const doomed = await worker();
  const jobs = [];
  for (const name of ['a', 'b', 'c']) jobs.push(await backend.uploads([1, 2].map((n) => ({ name: `${name}${n}.pdf`, bytes: slowPdf(2) })), web.url));
  const halfSent = backend.beginUpload(web.url);
  await until(async () => (await fleet.temporaryFiles()).length > 0, { what: 'the beginning of an upload on disk' });
  const parser = await someParserOf(doomed.pid);
  await Promise.all([killAtOnce(doomed), killAtOnce(web)]);
  halfSent.destroy();
  await until(() => isGone(parser), { what: 'the end of the orphaned parser' });
  const [successor] = await Promise.all([worker(), fleet.web().then((next) => { web = next; })]);
  expect(await fleet.temporaryFiles()).toEqual([]);   // the successor has cleared what the killed web left on disk
  const later = await backend.uploads([{ name: 'later.pdf', bytes: quickPdf() }], web.url);
  const jobIds = [...jobs, later].map((job) => job.jobId);
  for (const jobId of jobIds) await backend.outcome(jobId, web.url);
  await expectAllDoneOnce(database.pool, jobIds, config());
  expect(parsersOf(successor.pid)).toEqual([]);
  await until(async () => await backendsOf('%') === await backendsOf('leaseboard %'), { what: 'only live processes have connections' });
  expect(await backendsOf('leaseboard %/pump test')).toBe(1);
}, 180_000);

async function backendsOf(pattern: string): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>(`
    select count(*)::int as n from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and application_name like $1`, [pattern]);
  return rows[0]!.n;
}
