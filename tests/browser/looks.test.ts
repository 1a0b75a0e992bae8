import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUCKET_BOUNDS_MS } from '../../server/lease/samples.js';
import { insertAnalysis, insertCitation } from '../console/report-rows.js';
import { idFrom, itemFrom, staleItem } from '../console/rows.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { testBrowser, untilFeed } from '../support/browser.js';
import { faultsOf } from '../support/faults.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument, insertParseJob, insertRow, insertWorker, sql, type RowState } from '../support/factories.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let cookie: string;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url, { SWEEP_SECONDS: '3600', LEASE_SECONDS: '120', HEARTBEAT_SECONDS: '30' });   // what is stale stays so
  web = await fleet.web();
  ({ cookie } = await signedIn(database));
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

async function open(path: string): Promise<Page> {
  const page = await browser.tab(`${web.url}${path}`, { cookie });
  await untilFeed(page, 'live');
  return page;
}

/** One of everything that a console may have to show. */
async function fill(): Promise<{ failed: string; stale: string; job: string }> {
  const db = database.pool;
  await insertWorker(db, { id: 'w-test', label: 'worker-b', version: 'v42', slots: 4 });
  await insertWorker(db, { label: 'worker-a', version: 'v41', started_at: sql(`now() - interval '40 minutes'`), draining_since: sql(`now() - interval '9 seconds'`), drained_by: 'shutdown', kill_deadline_at: sql(`now() + interval '11 minutes'`) });
  await insertWorker(db, { label: 'worker-0', version: 'v40', started_at: sql(`now() - interval '50 minutes'`), stopped_at: sql(`now() - interval '20 minutes'`) });
  await insertWorker(db, { label: 'parsers-with-a-long-name-7f9c5d8b6-x2x9k', version: 'v42-rc.20261130T2359-8c1f2e9abc', capabilities: ['parse', 'citations', 'publish'], started_at: sql(`now() - interval '50 minutes'`), draining_since: sql(`now() - interval '9 minutes'`), drained_by: 'operator' });
  const { id: job } = await insertParseJob(db, { total_children: 28 });
  const names = ['Müller & Groß (2024) — Über größere Änderungen der Schätzgüte in der amtlichen Statistik.pdf', 'paper.pdf', 'دليل المستخدم.pdf', `${'x'.repeat(251)}.pdf`];
  const states: RowState[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];
  for (let n = 0; n < 25; n++) await itemFrom(db, n * 31, { job_id: job, filename: names[n % names.length], state: states[n % states.length] });
  await db.query(`update parse_items set lease_expires_at = now() + interval '1 hour' where state = 'running'`);
  const { id: document_id } = await insertDocument(db);
  await itemFrom(db, 20, { job_id: job, state: 'succeeded', document_id });
  const failed = await itemFrom(db, 90, { job_id: job, state: 'failed', error_code: 'worker_lost', error_message: 'Every worker that took it died.', lost_leases: 10, attempt: 1 });
  const stale = await staleItem(db, 42, { job_id: job, filename: names[3] });
  for (const [cause, from, to] of [['enqueue', null, 'queued'], ['acquire', 'queued', 'running'], ['sweep', 'running', 'queued'], ['poison', 'queued', 'failed']]) {
    await insertRow(db, 'queue_events', { queue: 'parse_items', row_id: failed.id, cause, from_state: from, to_state: to, worker_id: 'w-test', error_code: to === 'failed' ? 'worker_lost' : null });
  }
  for (let ago = 1; ago < 60; ago++) {
    for (const queue of ['parse_items', 'parse_jobs']) await insertRow(db, 'queue_minutes', minute(queue, ago));
  }
  for (const [role, from_version, to_version, ago] of [['worker', 'v40', 'v41', 40], ['web', 'v41', 'v42', 9], ['worker', 'v41', 'v42', 8]] as const) {
    await insertRow(db, 'redeploys', { id: idFrom(ago * 60), role, from_version, to_version, started_at: sql(`now() - interval '${ago} minutes'`), ended_at: sql('now()') });
  }
  return { failed: failed.id, stale: stale.id, job };
}

/** What was counted in a minute of the last hour. */
function minute(queue: string, ago: number) {
  const histogram = Array.from({ length: BUCKET_BOUNDS_MS.length + 1 }, (_, at) => (at === 14 + ago % 4 ? 20 : 0));
  return {
    queue, minute: sql(`date_trunc('minute', now()) - interval '${ago} minutes'`), enqueued: 20, acquired: 20, succeeded: 10 + (ago * 7) % 11, failed: ago % 3,
    cancelled: 0, given_back: 0, lost: 0, late_writes: 0, waits: histogram, runs: histogram,
  };
}

test('the sign-in page and an empty console can be used by everyone, light and dark, wide and narrow', { timeout: 240_000 }, async () => {
  const door = await browser.tab(`${web.url}/signin`);
  expect(await faultsOf(door)).toEqual([]);
  expect(await faultsOf(await open('/'))).toEqual([]);
});

test('every page of a full console can be used by everyone, light and dark, wide and narrow', { timeout: 400_000 }, async () => {
  const { failed, stale, job } = await fill();
  for (const path of ['/', '/queues/parse-items', '/queues/parse-jobs', `/queues/parse-items/${failed}`, `/queues/parse-items/${stale}`, `/queues/parse-jobs/${job}`, '/workers']) {
    const page = await open(path);
    if (path === '/') await page.locator('.chart-card svg').first().waitFor();
    expect({ path, faults: await faultsOf(page) }).toEqual({ path, faults: [] });
    await page.close();
  }
});

test('so can the pages of reports, sessions, apps, redeploys, people and what they did', { timeout: 600_000 }, async () => {
  const source = await insertDocument(database.pool, { filename: 'zeileis.pdf' });
  const report = await insertAnalysis(database.pool, { state: 'succeeded', thesis_document_id: source.id, claims_total: 2, marks_seen: 2, marks_resolved: 2, total_children: 2, succeeded_children: 1 });
  await insertCitation(database.pool, report.id, 0, { state: 'succeeded', document_id: source.id });
  await insertCitation(database.pool, report.id, 1, { state: 'failed' });
  await insertRow(database.pool, 'session_sources', { user_id: 'user-1', session_id: 'session-1', document_id: source.id, linked_by: 'parse_item' });
  await insertRow(database.pool, 'operator_actions', {
    attempt_id: idFrom(1), actor_kind: 'operator', actor_name: 'Ada', actor_role: 'operator', via: 'page', action: 'cancel', target_kind: 'row', target_id: report.id, queue: 'analysis_jobs', row_id: report.id,
    reason: 'asked for by the customer', outcome: 'refused', refusal: 'finished', answer: 'It has ended meanwhile.', before: '{"state":"succeeded"}', after: '{"state":"succeeded"}',
  });
  const redeploy = await insertRow<{ id: string }>(database.pool, 'redeploys', { id: sql('gen_random_uuid()'), role: 'worker', from_version: 'v42', to_version: 'v43', started_at: sql(`now() - interval '5 minutes'`), ended_at: sql('now()') });
  const pages = ['/reports', `/reports/${report.id}`, '/sessions', '/sessions/session-1', '/deployments', '/redeploys', `/redeploys/${redeploy.id}`, '/audit', '/find?q=zeileis', '/settings/account'];
  for (const path of pages) {
    const page = await open(path);
    expect({ path, faults: await faultsOf(page) }).toEqual({ path, faults: [] });
    await page.close();
  }
});

test('the menus, the drawer and the help can be used by everyone', { timeout: 240_000 }, async () => {
  const page = await open('/queues/parse-items');
  for (const opener of ['[aria-label^="Signed in as"]', '.queue-tools .btn:has-text("Export")']) {
    await page.click(opener);
    await page.locator('[role=menu]').waitFor();
    expect({ opener, faults: await faultsOf(page, '[role=menu]') }).toEqual({ opener, faults: [] });
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1440, height: 900 });
  }
  await page.keyboard.press('?');
  await page.locator('[role=dialog]').waitFor();
  expect(await faultsOf(page, '[role=dialog]')).toEqual([]);
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 390, height: 900 });
  await page.click('[aria-label="Menu"]');
  await page.click('.drawer .rail-link:has-text("Workers")');
  await page.waitForURL(`${web.url}/workers`);
  await page.locator('.drawer').waitFor({ state: 'detached' });
});

test('the script that makes a page usable, before its charts, is at most 150 kB compressed', { timeout: 120_000 }, async () => {
  for (const path of ['/', '/queues/parse-items', '/workers']) {
    const html = await (await fetch(`${web.url}${path}`, { headers: { cookie } })).text();
    const files = await scriptsOf(html);
    expect(files.size).toBeGreaterThan(5);
    expect([...files.keys()].filter((name) => /last-hour-/.test(name) && !/_console/.test(name))).toEqual([]);
    const bytes = [...files.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
    expect({ path, bytes, fits: bytes <= 150_000 }).toMatchObject({ fits: true });
  }
});

/** Every script that the document names, and what those import before they run. */
async function scriptsOf(html: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const waiting = [...new Set([...html.matchAll(/\/assets\/([\w.$-]+\.js)/g)].map(([, name]) => name!))].filter((name) => isLoadedFirst(html, name));
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (files.has(name)) continue;
    const answer = await fetch(`${web.url}/assets/${name}`);
    const text = await answer.text();
    expect([name, answer.status]).toEqual([name, 200]);
    files.set(name, text);
    for (const [, imported] of text.matchAll(/(?:from|import)\s*"\.\/([\w.$-]+\.js)"/g)) waiting.push(imported!);
  }
  return files;
}

/** The manifest's list of other routes' files is not loaded; modules that are preloaded or imported are. */
function isLoadedFirst(html: string, name: string): boolean {
  return [`rel="modulepreload" href="/assets/${name}"`, `from "/assets/${name}"`, `import "/assets/${name}"`].some((way) => html.includes(way));
}
