/** `npm start` with work in its hands: Ctrl-C gives it back before the database stops, and after kill -9 of everything the next start finishes it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig, withDatabase } from '../../server/config.js';
import { createPool } from '../../server/db/connection.js';
import { findEmbedded } from '../../server/db/embedded.js';
import { createLogger } from '../../server/log.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { startProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';
import { startBackend } from './backend.js';
import { shortLimits, shortSettings } from './fleet.js';
import { isGone, parsersOf, someParserOf } from './parsers-of.js';
import { causesOf, expectAllDoneOnce, itemRow, untilItem } from './rows.js';
import { slowPdf } from './slow-pdfs.js';

const log = createLogger({ level: 'silent', name: 'test' });
let dataDir: string;

beforeAll(async () => {
  await requireBuiltConsole();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'leaseboard-test-start-'));
}, 300_000);
afterAll(async () => {
  await (await findEmbedded({ dataDir, log }))?.stop();
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

interface Installation {
  start: TestProcess;
  url: string;
  workerPid: number;
  webPid: number;
}

async function npmStart(): Promise<Installation> {
  const start = startProcess('server/main/start.js', { ...shortSettings, DATA_DIR: dataDir, PORT: '0', DRAIN_SECONDS: '2' });
  const [, url] = await start.says(/Console {4}(\S+)/, 90_000);
  const pids = await withPool(async (pool) => until(async () => {
    const { rows } = await pool.query<{ role: string; pid: number }>('select role, pid from workers where stopped_at is null and gone_at is null order by started_at');
    const alive = rows.filter(({ pid }) => !isGone(pid));
    const [worker, web] = ['worker', 'web'].map((role) => alive.find((one) => one.role === role)?.pid);
    return worker && web ? { worker, web } : undefined;
  }, { timeoutMs: 60_000, what: 'web and worker' }));
  return { start, url: url!, workerPid: pids.worker, webPid: pids.web };
}

async function config() {
  const server = await findEmbedded({ dataDir, log });
  if (!server) throw new Error('The embedded database does not run');
  return { ...withDatabase(loadConfig({ DATABASE_POOL_MAX: '2' }), server.url), ...shortLimits };
}

/** Its connections end before the database is taken down. */
async function withPool<T>(use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = createPool(await config(), { role: 'test', log });
  try {
    return await use(pool);
  } finally {
    await pool.end();
  }
}

/** Uploads a file and stops its parser in the middle, so that the middle lasts. */
async function inMidItem({ url, workerPid }: Installation) {
  const { jobId, items: [item] } = await withPool(async (pool) => (await startBackend(pool)).uploads([{ name: 'slow.pdf', bytes: slowPdf() }], url));
  const parser = await someParserOf(workerPid);
  process.kill(parser, 'SIGSTOP');
  return { jobId, itemId: item!.itemId, parser };
}

test('Ctrl-C gives the lease back and leaves no process; kill -9 of everything costs the lease; the item is done in the end', async () => {
  const first = await npmStart();
  const { jobId, itemId, parser } = await inMidItem(first);
  await withPool((pool) => pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('parse_items', 'test', 'until we look')`));
  first.start.kill('SIGINT');
  expect(await first.start.ended).toEqual({ code: 0, signal: null });
  expect([first.workerPid, first.webPid, parser].filter((pid) => !isGone(pid))).toEqual([]);
  expect(await findEmbedded({ dataDir, log })).toBeUndefined();

  const second = await npmStart();
  expect(await withPool((pool) => causesOf(pool, itemId))).toEqual(['enqueue', 'acquire', 'drain']);
  await withPool((pool) => pool.query('delete from queue_pauses'));
  const orphan = await someParserOf(second.workerPid);
  const postmaster = Number((await readFile(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
  for (const pid of [second.start.pid, second.workerPid, second.webPid, postmaster]) process.kill(pid, 'SIGKILL');
  await second.start.ended;
  await until(() => isGone(orphan), { what: 'the end of the orphaned parser' });

  const third = await npmStart();
  await withPool(async (pool) => {
    await untilItem(pool, itemId, (row) => row.state === 'succeeded', 'the interrupted item done');
    expect(await itemRow(pool, itemId)).toMatchObject({ attempt: 0, lostLeases: 1, token: '3', hasBytes: false });
    await until(async () => (await pool.query(`select 1 from parse_jobs where id = $1 and state = 'succeeded'`, [jobId])).rowCount === 1, { timeoutMs: 30_000 });
    await expectAllDoneOnce(pool, [jobId], await config());
  });
  expect(parsersOf(third.workerPid)).toEqual([]);
  third.start.kill('SIGINT');
  expect(await third.start.ended).toEqual({ code: 0, signal: null });
}, 240_000);
