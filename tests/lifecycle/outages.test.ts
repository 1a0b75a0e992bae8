/** Postgres restarted or killed, and backends terminated, in mid-work: no process ends, work goes on by itself, every file is done once. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withDatabase, loadConfig, type Config } from '../../server/config.js';
import { createPool } from '../../server/db/connection.js';
import { createLogger } from '../../server/log.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { until } from '../support/until.js';
import { startBackend, type Backend } from './backend.js';
import { isReady, isRunning, shortLimits, startFleet, type Fleet, type WebRun, type WorkerRun } from './fleet.js';
import { parsersOf, someParserOf } from './parsers-of.js';
import { privatePostgres, type Ending, type PrivatePostgres } from './private-postgres.js';
import { expectAllDoneOnce } from './rows.js';
import { slowPdf } from './slow-pdfs.js';

let postgres: PrivatePostgres;
let pool: pg.Pool;
let config: Config;
let fleet: Fleet;
let web: WebRun;
let workers: WorkerRun[];
let backend: Backend;

beforeAll(async () => {
  await requireBuiltConsole();
  postgres = await privatePostgres();
  config = { ...withDatabase(loadConfig({ DATABASE_POOL_MAX: '3' }), postgres.url), ...shortLimits };
  pool = createPool(config, { role: 'test', log: createLogger({ level: 'silent', name: 'test' }) });
  fleet = await startFleet(postgres.url);
  web = await fleet.web();
  workers = await Promise.all([fleet.worker(), fleet.worker()]);
  backend = await startBackend(pool);
}, 300_000);
afterAll(async () => {
  await fleet.end();
  await pool.end();
  await postgres.remove();
}, 60_000);

/** Three users' uploads, some of whose files are just being read. */
async function workUnderWay(): Promise<string[]> {
  const jobs = [];
  for (const name of ['a', 'b', 'c']) jobs.push(await backend.uploads([1, 2].map((n) => ({ name: `${name}${n}.pdf`, bytes: slowPdf(2) })), web.url));
  await Promise.all(workers.map(({ pid }) => someParserOf(pid)));
  return jobs.map((job) => job.jobId);
}

async function expectDoneByTheSameProcesses(jobIds: string[]): Promise<void> {
  for (const jobId of jobIds) await backend.outcome(jobId, web.url);
  await until(() => isReady(web.url), { timeoutMs: 30_000, what: 'web is ready' });
  expect([web, ...workers].map(isRunning)).toEqual([true, true, true]);
  await expectAllDoneOnce(pool, jobIds, config);
}

test.each<Ending>(['fast shutdown', 'immediate shutdown', 'kill -9'])('Postgres ends by %s in mid-work: web is not ready while it is away, then work resumes by itself', async (how) => {
  const jobIds = await workUnderWay();
  await postgres.end(how);
  await until(async () => (await fetch(`${web.url}/readyz`)).status === 503, { timeoutMs: 20_000, what: 'web says that it is not ready' });
  expect(await (await fetch(`${web.url}/readyz`)).json()).toMatchObject({ reasons: expect.arrayContaining([expect.stringMatching(/^database: /)]) });
  expect((await fetch(`${web.url}/healthz`)).status).toBe(200);
  await postgres.start();
  await expectDoneByTheSameProcesses(jobIds);
  const another = await backend.uploads([{ name: 'after.pdf', bytes: slowPdf(1) }], web.url);
  await expectDoneByTheSameProcesses([another.jobId]);
}, 180_000);

test('every kind of connection terminated in turn while work runs: each comes back, nothing is lost', async () => {
  const jobIds = [];
  for (const kind of ['worker/pump', 'worker/beats', 'worker/listener', 'worker', 'web/listener', 'web']) {
    jobIds.push((await backend.uploads([{ name: `${kind.replace('/', '-')}.pdf`, bytes: slowPdf(2) }], web.url)).jobId);
    await until(() => workers.flatMap(({ pid }) => parsersOf(pid))[0], { timeoutMs: 30_000, what: 'a file is being read' });
    const gone = await terminated(`leaseboard ${kind} test`);
    if (kind.includes('/')) await until(async () => (await backends(`leaseboard ${kind} test`)).filter((pid) => !gone.includes(pid)).length >= gone.length, { timeoutMs: 30_000, what: `${kind} is connected again` });
  }
  jobIds.push(...await workUnderWay());
  expect(await terminated('leaseboard w%')).not.toEqual([]);   // and all at once
  await expectDoneByTheSameProcesses(jobIds);
  const names = await until(async () => {
    const found = await applications();
    return found['leaseboard worker/pump test'] === 2 && found['leaseboard worker/listener test'] === 2 && found;
  }, { timeoutMs: 20_000, what: 'two pumps and two listeners, no more' });
  expect(names).toMatchObject({ 'leaseboard worker/beats test': 2, 'leaseboard web/listener test': 1 });
}, 180_000);

/** @returns the backends that were ended. */
async function terminated(name: string): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(`select pid from pg_stat_activity where application_name like $1 and pg_terminate_backend(pid)`, [name]);
  return rows.map((row) => row.pid);
}

async function backends(name: string): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(`select pid from pg_stat_activity where application_name = $1`, [name]);
  return rows.map((row) => row.pid);
}

async function applications(): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; n: number }>(`
    select application_name as name, count(*)::int as n from pg_stat_activity where backend_type = 'client backend' group by 1`);
  return Object.fromEntries(rows.map((row) => [row.name, row.n]));
}
