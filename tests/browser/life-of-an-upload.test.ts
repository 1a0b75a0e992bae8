import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireBuiltConsole } from '../http/built-console.js';
import { apiToken, signedIn } from '../http/web-under-test.js';
import { startBackend, type Backend } from '../lifecycle/backend.js';
import { startFleet, type Fleet, type WebRun, type WorkerRun } from '../lifecycle/fleet.js';
import { quickPdf, slowPdf } from '../lifecycle/slow-pdfs.js';
import { mark, PATIENCE_MS, testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { endlessPdf } from '../fixtures/pdfs.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let worker: WorkerRun;
let backend: Backend;
let cookie: string;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url, { LEASE_SECONDS: '30', HEARTBEAT_SECONDS: '10', DRAIN_SECONDS: '6' });
  web = await fleet.web();
  backend = await startBackend(database.pool);
  ({ cookie } = await signedIn(database));
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

test('an empty console says what would be here, and its upload command works as it is pasted', { timeout: 120_000 }, async () => {
  const page = await browser.tab(web.url, { cookie });
  await untilFeed(page, 'live');
  const same = await mark(page);
  expect(await page.textContent('h1')).toBe('Nothing here yet, and all is well.');
  expect(await page.textContent('main')).toMatch(/No upload has arrived yet.*Each upload becomes one parse job/s);
  const command = await page.textContent('[aria-label="Upload command"]');

  const answer = await pasted(command!, await apiToken(database));
  expect(answer).toMatchObject({ jobId: expect.any(String), items: [{ filename: 'paper.pdf' }] });
  await untilText(page, '[data-queue=parse-items] [data-count=queued]', /^1$/);
  expect(await page.textContent('main')).not.toMatch('No upload has arrived yet');
  expect(await same.isSame()).toBe(true);
});

test('an upload is seen queued, then held by a worker while its lease drains, then done, without a reload', { timeout: 240_000 }, async () => {
  const page = await browser.tab(`${web.url}/queues/parse-items`, { cookie });
  await untilFeed(page, 'live');
  const same = await mark(page);
  const { items: [item] } = await backend.uploads([{ name: 'slow.pdf', bytes: slowPdf(12) }], web.url);
  const row = `[data-row-id="${item!.itemId}"]`;
  await untilText(page, row, /queued.*slow\.pdf/);

  worker = await fleet.worker();
  await untilText(page, row, /running.*slow\.pdf.*test/);   // its version
  const samples = await drainingLease(page, row);
  expect(samples.map(({ left }) => left)).toEqual([...samples].map(({ left }) => left).sort((a, b) => b - a));
  await untilText(page, row, /done.*slow\.pdf/);
  expect(await page.locator(`${row} .lease`).count()).toBe(0);
  expect(await same.isSame()).toBe(true);

  await page.click(`${row} .row-link`);
  await untilText(page, '.timeline', /Finished by .*Taken by .*waited.*Accepted and queued/s);
  expect(await page.locator('.timeline [data-cause]').evaluateAll((all) => all.map((one) => one.getAttribute('data-cause')))).toEqual(['succeed', 'acquire', 'enqueue']);
  expect(await page.textContent('.linked')).toMatch(/Document.*slow\.pdf.*24 pages/s);
});

test('the workers page shows both processes, and a worker that drains as it does so', { timeout: 240_000 }, async () => {
  worker ??= await fleet.worker();
  const { rows: [registered] } = await database.pool.query<{ id: string }>(`select id from workers where role = 'web'`);
  await backend.uploads([{ name: 'endless.pdf', bytes: endlessPdf() }], web.url);
  const page = await browser.tab(`${web.url}/workers`, { cookie });
  await untilText(page, `[data-worker="${worker.id}"]`, /live.*parse.*1 lease/);
  await untilText(page, `[data-worker="${registered!.id}"]`, /live.*web.*serves pages/);
  expect(await page.locator('.life li').count()).toBe(2);

  worker.kill('SIGTERM');
  await untilText(page, `[data-worker="${worker.id}"]`, /draining.*1 lease, \d+ s left/);
  await untilText(page, `[data-worker="${worker.id}"]`, /stopped.*clean/);
  expect((await worker.ended).code).toBe(0);
  await untilText(page, '.queue-head', /0 workers and 1 web process live, 0 leases held/);
});

/** What sh makes of the text, in a folder that holds the file it names. */
async function pasted(command: string, token: string): Promise<unknown> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'leaseboard-test-paste-'));
  try {
    await writeFile(path.join(folder, 'paper.pdf'), quickPdf());
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: folder, env: { ...process.env, TOKEN: token }, timeout: PATIENCE_MS });
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Three looks at the meter, one after the other, between two beats: each is shorter than the one before. */
async function drainingLease(page: Page, row: string): Promise<{ width: number; left: number }[]> {
  let seen: { width: number; left: number }[] = [];
  return until(async () => {
    const sample = await page.evaluate((selector) => {
      const fill = document.querySelector(`${selector} .lease-fill`)?.getBoundingClientRect().width;
      const words = document.querySelector(`${selector} .lease-left`)?.textContent ?? '';
      return fill === undefined ? null : { width: fill, left: Number.parseInt(words) };
    }, row);
    const last = seen.at(-1);
    if (!sample || (last && sample.left > last.left)) seen = [];   // a beat renewed it
    else if (!last || (sample.left < last.left && sample.width < last.width)) seen = [...seen, sample];
    return seen.length >= 3 && seen;
  }, { timeoutMs: PATIENCE_MS, what: 'a lease that drains' });
}
