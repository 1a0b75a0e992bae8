import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFiles } from '../../server/http/files.js';
import { openLive } from '../../server/http/live.js';
import { loadBuild, pages } from '../../server/http/pages.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { testBrowser, untilText } from '../support/browser.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let web: WebUnderTest;

beforeAll(async () => {
  const root = await requireBuiltConsole();
  const build = await loadBuild(root);
  database = await testDatabase();
  web = await startWeb(database, {
    config: { appVersion: 'refused' },
    parts(world) {
      const live = openLive(world);
      return { files: clientFiles(root), pages: pages(world, build), live: live.router };
    },
  });
}, 300_000);
afterAll(() => web.close());

const accept = (yes: boolean) => onServer((client) => client.query(`alter database ${new URL(database.url).pathname.slice(1)} allow_connections ${yes}`));
const closeIdle = () => onServer((client) => client.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'leaseboard web refused'`));

test('a page whose database refuses connections says so, and shows itself once they are accepted again', { timeout: 120_000 }, async () => {
  browser.expectComplaint(/503|decode turbo-stream|^error: SyntaxError/);
  const { cookie } = await signedIn(database);
  await closeIdle();
  await until(() => web.world.pool.totalCount === 0);
  await web.world.pool.query('select 1');   // one connection: enough to know who asks, not for the page
  await accept(false);
  const page = await browser.tab(`${web.url}/workers`, { cookie });
  expect(await page.textContent('[role=alert]')).toMatch(/No answer right now.*asks again by itself/);

  await closeIdle();
  for (let tries = 0; tries < 2; tries++) await page.waitForResponse((response) => response.url().includes('/workers.data') && response.status() === 503);
  expect(await page.textContent('[role=alert]')).toMatch(/No answer right now/);

  await page.route(/workers\.data/, async (route) => {
    await pause(6_000);   // slower than it is asked again
    await route.continue().catch(() => undefined);
  });
  await accept(true);
  expect(await untilText(page, 'h1', /Workers/)).toBe('Workers');
  expect(await page.locator('[role=alert]').count()).toBe(0);
});

test('a page that misses a script of its version says that another one was rolled out, and does not ask again and again', { timeout: 120_000 }, async () => {
  browser.expectComplaint(/404|dynamically imported|Failed to fetch/);
  const { cookie } = await signedIn(database);
  const page = await browser.tab(`${web.url}/audit`, { cookie, before: (tab) => tab.route(/assets\/export-menu-/, (route) => route.fulfill({ status: 404 })) });
  expect(await untilText(page, '[role=alert]', /another version/)).toMatch(/Load the page anew/);
  await page.unroute(/assets\/export-menu-/);
  await page.click('text=Load it anew');
  await page.locator('text=Export').waitFor();
  expect(await page.locator('[role=alert]').count()).toBe(0);
});
