import type pg from 'pg';
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { loadConfig, withDatabase } from '../../server/config.js';
import { createPool } from '../../server/db/connection.js';
import { createLogger } from '../../server/log.js';
import { createProxy, type Proxy } from '../bus/proxy.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet } from '../lifecycle/fleet.js';
import { privatePostgres } from '../lifecycle/private-postgres.js';
import { feedOf, mark, PATIENCE_MS, testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase } from '../support/database.js';
import { insertParseItem, sql } from '../support/factories.js';
import { until } from '../support/until.js';

const browser = testBrowser();
const endings: (() => Promise<unknown>)[] = [];
beforeAll(async () => { await requireBuiltConsole(); }, 300_000);
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
}, 60_000);

/** What the feed indicator said, state after state, from now on. */
async function recordFeed(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const said: string[] = [];
    let last: string | null = null;
    Object.assign(window, { feedSaid: said });
    const look = () => {
      const state = document.querySelector('[data-feed]')?.getAttribute('data-feed');
      if (state && state !== last) said.push(last = state);
    };
    look();
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-feed'] });
  });
  return () => page.evaluate(() => (window as unknown as { feedSaid: string[] }).feedSaid.splice(0));
}

/** Ends every session of the listener, as an administrator or a fail-over does. */
async function terminateListener(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like '%web/listener%'`);
  return rowCount ?? 0;
}

async function startWeb(databaseUrl: string, settings: Record<string, string> = {}): Promise<Fleet & { url: string }> {
  const fleet = await startFleet(databaseUrl, settings);
  endings.push(() => fleet.end());
  return { ...fleet, url: (await fleet.web()).url };
}

test('when the listener’s backend is terminated the page says that it polls, still follows, and is live again once it listens', { timeout: 180_000 }, async () => {
  const database = await testDatabase();
  const link: Proxy = await createProxy(database.url);
  endings.push(() => link.close());
  const web = await startWeb(database.url, { DATABASE_DIRECT_URL: link.url });
  await insertParseItem(database.pool);
  const page = await browser.tab(`${web.url}/`, { cookie: (await signedIn(database)).cookie });
  await untilFeed(page, 'live');
  const same = await mark(page);
  const feedSaid = await recordFeed(page);

  link.set('refuse');   // nobody can connect anew; what is connected was cut
  await terminateListener(database.pool);
  await untilFeed(page, 'polling');
  expect(await page.textContent('[data-feed]')).toMatch(/Polling every 1 s.*listener lost \d+ s ago/);
  expect(await page.textContent('h1')).toMatch(/the listener is down/i);
  await feedSaid();
  await insertParseItem(database.pool);
  await untilText(page, '[data-queue=parse-items] [data-count=queued]', /^2$/);
  expect(await page.locator('.banner').count()).toBe(0);   // polling is not stale
  expect(await feedSaid()).toEqual([]);                    // nor was it live in between

  link.set('forward');
  await untilFeed(page, 'live');
  await until(async () => !/listener/i.test(await page.textContent('h1') ?? ''), { timeoutMs: PATIENCE_MS, what: 'a page that no longer speaks of the listener' });
  expect(await same.isSame()).toBe(true);
});

test('a listener that is terminated and comes back at once leaves the page as it was, and nothing is missed', { timeout: 120_000 }, async () => {
  const database = await testDatabase();
  const web = await startWeb(database.url);
  await insertParseItem(database.pool);
  const page = await browser.tab(`${web.url}/queues/parse-items`, { cookie: (await signedIn(database)).cookie });
  await untilFeed(page, 'live');
  expect(await terminateListener(database.pool)).toBe(1);
  const { id } = await insertParseItem(database.pool, { filename: 'meanwhile.pdf' });   // no notification: only a re-read finds it
  await untilText(page, `[data-row-id="${id}"]`, /meanwhile\.pdf/);
  await untilFeed(page, 'live');
});

test('while Postgres is away the page never says that it is live nor that all is clear, and is live again by itself', { timeout: 240_000 }, async () => {
  browser.expectComplaint(/503|Failed to load resource/);
  const postgres = await privatePostgres();
  endings.push(() => postgres.remove());
  const pool = createPool(withDatabase(loadConfig({ LOG_LEVEL: 'silent' }), postgres.url), { role: 'test', log: createLogger({ level: 'silent', name: 'test' }) });
  endings.push(() => pool.end());
  const web = await startWeb(postgres.url);
  await web.worker();
  await insertParseItem(pool, { state: 'succeeded' });
  const page = await browser.tab(`${web.url}/`, { cookie: (await signedIn({ pool } as Parameters<typeof signedIn>[0])).cookie });
  await untilFeed(page, 'live');
  await untilText(page, 'h1', /^All clear/);
  const same = await mark(page);
  const feedSaid = await recordFeed(page);

  await postgres.end('fast shutdown');
  await until(async () => await feedOf(page) !== 'live', { timeoutMs: 10_000, what: 'a page that is no longer live' });
  await feedSaid();
  await untilFeed(page, 'offline');
  expect(await page.textContent('[data-feed]')).toMatch(/Offline.*last read \d+ s ago/);
  expect(await page.textContent('h1')).toMatch(/^Not known now: nothing could be read for \d+ s\.$/);
  expect(await page.textContent('main')).not.toMatch(/all clear/i);
  expect(await page.textContent('.banner')).toMatch(/Nothing could be read for a while/);
  expect(await feedSaid()).not.toContain('live');

  await postgres.start();
  await untilFeed(page, 'live');
  await untilText(page, 'h1', /^All clear/);
  expect(await page.locator('.banner').count()).toBe(0);
  await insertParseItem(pool, { run_after: sql(`now() + interval '1 hour'`) });   // so that it stays queued
  await untilText(page, '[data-queue=parse-items] [data-count=queued]', /^1$/);
  expect(await same.isSame()).toBe(true);
});
