import axe from 'axe-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { journeyWorld, type JourneyWorld } from '../console/journey-world.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { mark, PATIENCE_MS, testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let world: JourneyWorld;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url, { SWEEP_SECONDS: '3600' });
  web = await fleet.web();
  // Between the insert of an analysis and those of its citations a sweep would find that it has none, and end it.
  await until(async () => (await database.pool.query('select 1 from sweeps where last_run_at is not null')).rowCount === 1, { what: 'the sweep of the start', timeoutMs: 60_000 });
  world = journeyWorld(database.pool);
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

test('a viewer copies the answer by keyboard, in either language and in their own zone, while it follows the checks', { timeout: 240_000 }, async () => {
  const { cookie } = await signedIn(database, 'viewer');
  await world.link();
  const { id } = await world.checking([{ state: 'succeeded' }, {}, {}], { created_at: new Date('2026-11-29T13:00:00Z') });
  const page = await browser.tab(`${web.url}/reports/${id}`, { cookie });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await untilFeed(page, 'live');
  const same = await mark(page);
  await untilText(page, '[data-answer=en]', /1 of 3 citations/);
  for (const [code, name] of [['en', 'English'], ['de', 'German']] as const) {
    await page.focus(`button:has-text("Copy ${name}")`);
    await page.keyboard.press('Enter');
    const sentence = await page.textContent(`[data-answer=${code}]`);
    await until(async () => await page.evaluate(() => navigator.clipboard.readText()) === sentence, { timeoutMs: PATIENCE_MS, what: `the ${name} answer on the clipboard` });
    expect(await page.getAttribute(`[data-answer=${code}]`, 'lang')).toBe(code);
  }

  await database.pool.query(`update job_citations set state = 'cancelled', finished_at = now(), error_code = 'cancelled', version = version + 1 where job_id = $1 and state = 'queued'`, [id]);
  await database.pool.query(`update analysis_jobs set state = 'cancelled', finished_at = '2026-11-29T14:02:31Z', open_children = 0, version = version + 1 where id = $1`, [id]);
  await database.pool.query(`select pg_notify('leaseboard_rows', $1)`, [JSON.stringify({ t: 'analysis_jobs', ids: [id] })]);
  await untilText(page, '[data-answer=en]', /^Your report was cancelled on 29 November 2026 at 14:02 UTC/);
  expect(await page.textContent('.answer ~ [role=status]')).toMatch(/^The answer has changed: Your report was cancelled/);
  await page.click('a:has-text("use Europe/Berlin")');
  await untilText(page, '[data-answer=de]', /um 15:02 Uhr \(MEZ\) abgebrochen/);
  expect(await same.isSame()).toBe(true);

  await page.evaluate(axe.source);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { faults, sideways } = await page.evaluate(async () => {
        const { violations } = await (window as unknown as { axe: typeof axe }).axe.run('main', { resultTypes: ['violations'] });
        return { faults: violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map((each) => `${each.id}: ${each.nodes[0]?.html}`), sideways: document.documentElement.scrollWidth > window.innerWidth };
      });
      expect([colorScheme, width, faults, sideways]).toEqual([colorScheme, width, [], false]);
    }
  }
});
