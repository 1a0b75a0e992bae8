/** Work inside the web process: when no worker lives, until one does, and through the same protocol with the same manners. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { upload } from '../api/uploads.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { apiToken } from '../http/web-under-test.js';
import { startBackend, type Backend } from '../lifecycle/backend.js';
import { shortLimits, startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { isGone, someParserOf } from '../lifecycle/parsers-of.js';
import { causesOf, expectAllDoneOnce, itemRow, msBetween, untilItem } from '../lifecycle/rows.js';
import { quickPdf, slowPdf } from '../lifecycle/slow-pdfs.js';
import { cleo, openDesk, press } from '../operations/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

let database: TestDatabase;
let backend: Backend;
let fleet: Fleet;
beforeAll(async () => { await requireBuiltConsole(); }, 300_000);
afterEach(() => fleet.end(), 60_000);

async function begin(settings: Record<string, string> = {}): Promise<void> {
  database = await testDatabase();
  backend = await startBackend(database.pool);
  fleet = await startFleet(database.url, settings);
}

interface Process { id: string; role: string; label: string; capabilities: string[]; slots: number; stopped: boolean }

async function processes(role: string): Promise<Process[]> {
  const { rows } = await database.pool.query<Process>(`select id, role, label, capabilities, slots, stopped_at is not null as stopped from workers where role = $1 order by started_at`, [role]);
  return rows;
}

/** Roles of the processes that took this item, in order. */
async function takenBy(itemId: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ role: string }>(
    `select w.role from queue_events e join workers w on w.id = e.worker_id where e.row_id = $1 and e.cause = 'acquire' order by e.id`, [itemId]);
  return rows.map(({ role }) => role);
}

async function done(web: WebRun, bytes = quickPdf()): Promise<{ jobId: string; itemId: string }> {
  const { jobId, items: [item] } = await backend.uploads([{ name: 'paper.pdf', bytes }], web.url);
  await backend.outcome(jobId, web.url);
  return { jobId, itemId: item!.itemId };
}

test('web takes the work when no worker lives, says so in the registry, and hands it back to the first worker that does', async () => {
  await begin();
  const web = await fleet.web({ INLINE_AFTER_SECONDS: '1' });
  const first = await done(web);
  expect(await takenBy(first.itemId)).toEqual(['inline']);
  expect(await processes('inline')).toMatchObject([{ capabilities: ['parse', 'citations'], slots: 2, stopped: false, label: expect.stringMatching(/\/inline$/) }]);

  await fleet.worker();
  await until(async () => (await processes('inline')).every(({ stopped }) => stopped), { what: 'the end of the inline work' });
  const second = await done(web);
  expect(await takenBy(second.itemId)).toEqual(['worker']);
  expect(await processes('inline')).toHaveLength(1);
  await expectAllDoneOnce(database.pool, [first.jobId, second.jobId], database.config(shortLimits));
}, 120_000);

test('a worker that is only restarted does not move its work into web', async () => {
  await begin({ POLL_SECONDS: '0.2' });
  const web = await fleet.web({ INLINE_AFTER_SECONDS: '30' });
  const old = await fleet.worker();
  old.kill('SIGTERM');
  await old.ended;
  const { jobId, items: [item] } = await backend.uploads([{ name: 'paper.pdf', bytes: quickPdf() }], web.url);
  await fleet.worker();
  await backend.outcome(jobId, web.url);
  expect(await takenBy(item!.itemId)).toEqual(['worker']);
  expect(await processes('inline')).toEqual([]);
}, 120_000);

test('SIGTERM of web gives what it does inline back uncharged, kills its parser, and the next web has it within two seconds', async () => {
  await begin({ ANALYSIS_WORKER_MODE: 'inline', POLL_SECONDS: '60', WORKER_CONCURRENCY: '1' });
  const old = await fleet.web({ APP_VERSION: 'v1' });
  const { jobId, items: [item] } = await backend.uploads([{ name: 'slow.pdf', bytes: slowPdf() }], old.url);
  await untilItem(database.pool, item!.itemId, (row) => row.workerId !== null, 'taken');
  const parser = await someParserOf(old.pid);
  process.kill(parser, 'SIGSTOP');
  const holder = (await itemRow(database.pool, item!.itemId)).workerId;
  const next = await fleet.web({ APP_VERSION: 'v2' });

  old.kill('SIGTERM');
  const given = await untilItem(database.pool, item!.itemId, (row) => row.workerId !== holder, 'given back');
  expect(given).toMatchObject({ attempt: 0, lostLeases: 0 });
  expect(await old.ended).toEqual({ code: 0, signal: null });
  expect(isGone(parser)).toBe(true);
  await backend.outcome(jobId, next.url);
  expect(await msBetween(database.pool, item!.itemId, 'drain', 'acquire')).toBeLessThan(2_000);
  expect(await causesOf(database.pool, item!.itemId)).toEqual(['enqueue', 'acquire', 'drain', 'acquire', 'succeed']);
  const { rows } = await database.pool.query(`select role, drained_by, kill_deadline_at is not null as announced, stopped_at is not null as stopped from workers where version = 'v1' order by role`);
  expect(rows).toEqual(['inline', 'web'].map((role) => ({ role, drained_by: 'shutdown', announced: true, stopped: true })));
  const { rows: redeploys } = await database.pool.query(`select role, from_version, to_version from redeploys`);
  expect(redeploys).toEqual([{ role: 'web', from_version: 'v1', to_version: 'v2' }]);
  await expectAllDoneOnce(database.pool, [jobId], database.config(shortLimits));
}, 120_000);

test('in inline mode web works although a worker lives, and the clock of staged bytes runs with it alone', async () => {
  await begin({ ANALYSIS_WORKER_MODE: 'inline', SWEEP_SECONDS: '0.5' });
  const web = await fleet.web();
  await until(async () => (await processes('inline')).length === 1, { what: 'inline work' });
  const ran = async () => (await database.pool.query(`select ran_seconds from queue_clocks where queue = 'parse_items'`)).rows[0].ran_seconds as number;
  const before = await ran();
  await until(async () => await ran() > before, { what: 'a tick of the clock' });
  await fleet.worker({ WORKER_CAPABILITIES: 'parse' });
  const paper = await done(web);
  expect(['inline', 'worker']).toContain((await takenBy(paper.itemId))[0]);
  expect(await processes('inline')).toMatchObject([{ stopped: false }]);
}, 120_000);

const order = (verb: 'drain' | 'resume', worker: string) => press(openDesk(database), verb, { worker }, { actor: cleo });

/** The sweep has run this often more: by then a worker that took work would have polled several times. */
async function sweepsOn(times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const ranAt = async () => (await database.pool.query('select last_run_at::text as at from sweeps')).rows[0]?.at as string | undefined;
    const before = await ranAt();
    await until(async () => await ranAt() !== before, { what: 'another sweep' });
  }
}

test('drained by an operator, inline work stops within a second and is given back, web serves and accepts on, and what waits is done once it is resumed', async () => {
  await begin({ ANALYSIS_WORKER_MODE: 'inline', POLL_SECONDS: '0.2', SWEEP_SECONDS: '0.3', HEARTBEAT_SECONDS: '30', LEASE_SECONDS: '120' }); // no beat brings the order
  const web = await fleet.web();
  const { jobId, items: [item] } = await backend.uploads([{ name: 'slow.pdf', bytes: slowPdf() }], web.url);
  await untilItem(database.pool, item!.itemId, (row) => row.workerId !== null, 'taken');
  const parser = await someParserOf(web.pid);
  process.kill(parser, 'SIGSTOP');
  const [{ id }] = await processes('inline') as [Process];

  const orderedAt = performance.now();
  expect(await order('drain', id)).toMatchObject({ outcome: 'applied', text: expect.stringMatching(/^Drained .*\/inline \(test\), which held 1 lease\./) });
  await untilItem(database.pool, item!.itemId, (row) => row.workerId === null, 'given back');
  expect(performance.now() - orderedAt).toBeLessThan(2_000);   // a second, and a poll's slack
  expect(await order('drain', id)).toMatchObject({ outcome: 'refused', code: 'already_draining' });
  await until(() => isGone(parser), { what: 'the end of its parser' });

  const token = await apiToken(database);
  const user = randomUUID();
  const sent = await upload(web.url, token, { userId: user, sessionId: user, files: [{ name: 'paper.pdf', bytes: quickPdf() }] });
  expect(sent.status).toBe(202); // what can be resumed can take it
  const ran = async () => (await database.pool.query(`select ran_seconds from queue_clocks where queue = 'parse_items'`)).rows[0].ran_seconds as number;
  await sweepsOn(2);
  const stood = await ran();
  await sweepsOn(3);
  expect(await ran()).toBe(stood); // the staged bytes of what waits do not age
  expect(await causesOf(database.pool, item!.itemId)).toEqual(['enqueue', 'acquire', 'drain']);
  expect((await database.pool.query(`select 1 from parse_items where state = 'queued' and lease_token = 0`)).rowCount).toBe(1);
  expect((await fetch(`${web.url}/readyz`)).status).toBe(200);

  expect(await order('resume', id)).toMatchObject({ outcome: 'applied' });
  await backend.outcome(jobId, web.url);
  expect(await causesOf(database.pool, item!.itemId)).toEqual(['enqueue', 'acquire', 'drain', 'acquire', 'succeed']);
  expect(await takenBy(item!.itemId)).toEqual(['inline', 'inline']);
  expect(await processes('inline')).toMatchObject([{ id, stopped: false }]);
  await expectAllDoneOnce(database.pool, [jobId, sent.body.jobId as string], database.config(shortLimits));
}, 120_000);

test('a drained inline worker is not replaced by one that would work, though a worker takes part of its work; resumed, it takes the rest', async () => {
  await begin({ POLL_SECONDS: '0.2', SWEEP_SECONDS: '0.3' });
  const web = await fleet.web({ INLINE_AFTER_SECONDS: '0' });
  const [first] = await until(async () => { const found = await processes('inline'); return found.length === 1 && found; }, { what: 'inline work' });
  await order('drain', first!.id);
  await fleet.worker({ WORKER_CAPABILITIES: 'parse' });
  expect(await takenBy((await done(web)).itemId)).toEqual(['worker']);
  await sweepsOn(3);
  expect(await processes('inline')).toMatchObject([{ id: first!.id, stopped: false }]);
  await order('resume', first!.id);
  await until(async () => (await processes('inline'))[0]!.stopped, { what: 'the end of the one that takes everything' });
  await until(async () => (await processes('inline')).length === 2, { what: 'the one that takes the rest' });
  expect(await processes('inline')).toMatchObject([{ id: first!.id }, { capabilities: ['citations'], stopped: false }]);
}, 120_000);

test('an upload is refused as no_worker, and not stored, only where neither a worker nor any web process can parse', async () => {
  await begin();
  const token = await apiToken(database);
  const web = await fleet.web({ WORKER_CAPABILITIES: 'citations', INLINE_AFTER_SECONDS: '0' });
  const send = () => {
    const user = randomUUID();
    return upload(web.url, token, { userId: user, sessionId: user, files: [{ name: 'paper.pdf', bytes: quickPdf() }] });
  };
  const refused = await send();
  expect(refused.status).toBe(503);
  expect(refused.body).toMatchObject({ code: 'no_worker', detail: expect.stringMatching(/Nothing was stored/) });
  expect((await database.pool.query('select 1 from parse_jobs')).rowCount).toBe(0);

  const worker = await fleet.worker({ WORKER_CAPABILITIES: 'parse' });
  expect((await send()).status).toBe(202);
  worker.kill('SIGTERM');
  await worker.ended;
  expect((await send()).status).toBe(503);
  await fleet.web({ INLINE_AFTER_SECONDS: '0' }); // can parse itself: in its own name, and for the other
  await until(async () => (await send()).status === 202, { what: 'an upload that another web process will parse' });
}, 120_000);
