import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idFrom } from '../console/rows.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { PATIENCE_MS, mark, testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, insertParseJob, insertWorker, sql, type RowState } from '../support/factories.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let cookie: string;

/** Three pages of items, a fifth of them failed; newest last. */
const COUNT = 120;
const states: RowState[] = ['queued', 'succeeded', 'failed', 'running', 'queued'];

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  const { id: job_id } = await insertParseJob(database.pool, { total_children: COUNT, open_children: COUNT });
  for (let n = 0; n < COUNT; n++) {
    await insertParseItem(database.pool, { id: idFrom(COUNT - n), job_id, filename: `paper-${n}.pdf`, user_id: `user-${n % 4}`, state: states[n % states.length] });
  }
  // Nobody sweeps here; still, no lease shall run out while the tests look at it.
  await database.pool.query(`update parse_items set lease_expires_at = now() + interval '1 hour' where state = 'running'`);
  fleet = await startFleet(database.url);
  web = await fleet.web();
  ({ cookie } = await signedIn(database));
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

const LIST = '/queues/parse-items';

async function open(path: string): Promise<Page> {
  const page = await browser.tab(`${web.url}${path}`, { cookie });
  await untilFeed(page, 'live');
  return page;
}

function rowIds(page: Page): Promise<string[]> {
  return page.locator('tr[data-row-id]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row-id')!));
}

function shownStates(page: Page): Promise<string[]> {
  return page.locator('tr[data-row-id] td.mark').evaluateAll((cells) => [...new Set(cells.map((cell) => cell.textContent!))].sort());
}

async function untilPath(page: Page, path: string): Promise<void> {
  await until(() => page.url() === `${web.url}${path}`, { timeoutMs: PATIENCE_MS, what: `the address ${path}` });
}

const untilStates = (page: Page, wanted: string[]) => until(async () => JSON.stringify(await shownStates(page)) === JSON.stringify(wanted), { timeoutMs: PATIENCE_MS, what: `a list of ${wanted}` });

test('a filter is in the address: chips change it and the list, a link restores it, and the back button undoes it', { timeout: 120_000 }, async () => {
  const page = await open(LIST);
  const same = await mark(page);
  await page.click('[data-chip=failed]');
  await untilPath(page, `${LIST}?state=failed`);
  await untilStates(page, ['failed']);
  expect(await page.getAttribute('[data-chip=failed]', 'aria-current')).toBe('true');
  await page.click('[data-chip=running]');
  await untilPath(page, `${LIST}?state=failed,running`);
  await untilStates(page, ['failed', 'running']);
  await page.keyboard.press('f');
  await page.keyboard.type('user:user-2');
  await page.keyboard.press('Enter');
  await untilPath(page, `${LIST}?state=running,failed&user=user-2`);   // in the order of the chips
  await until(async () => (await rowIds(page)).length === 12, { timeoutMs: PATIENCE_MS, what: 'the twelve rows of user-2' });

  const linked = await open(`${LIST}?state=failed,running&user=user-2`);
  expect(await rowIds(linked)).toEqual(await rowIds(page));
  expect(await linked.textContent('.filter-bar')).toMatch(/user user-2/);
  expect(await linked.textContent('[data-matching]')).toBe('12 rows');

  await page.goBack();
  await untilPath(page, `${LIST}?state=failed,running`);
  await page.goBack();
  await untilStates(page, ['failed']);
  await page.goBack();
  await untilPath(page, LIST);
  await untilStates(page, ['done', 'failed', 'queued', 'running']);
  expect(await same.isSame()).toBe(true);
});

test('what is typed into the filter box while another filter is on its way stays', { timeout: 120_000 }, async () => {
  const page = await open(LIST);
  let release = () => {};
  const held = new Promise<void>((resolve) => { release = resolve; });
  await page.route(/\.data\?.*state=failed/, async (route) => {
    await held;
    await route.continue();
  }, { times: 1 });
  await page.click('[data-chip=failed]');
  await page.keyboard.press('f');
  await page.keyboard.type('user:us');
  release();
  await untilStates(page, ['failed']);
  await page.keyboard.type('er-2');
  await page.keyboard.press('Enter');
  await untilPath(page, `${LIST}?state=failed&user=user-2`);
  await until(async () => await page.inputValue('[data-filter-box]') === '', { timeoutMs: PATIENCE_MS, what: 'an empty box' });
});

test('a filter that is mistyped, in the box or in the address, is said to have no effect, and taken out again', { timeout: 120_000 }, async () => {
  const page = await open(`${LIST}?user=user-2`);
  await page.keyboard.press('f');
  await page.keyboard.type('older:soon');
  await page.keyboard.press('Enter');
  await untilPath(page, `${LIST}?user=user-2&older=soon`);
  await untilText(page, '[data-left-out]', /Not filtered by older:soon.*An age reads 90s, 5m, 2h or 1d/);
  await page.click('[data-left-out] a');
  await untilPath(page, `${LIST}?user=user-2`);
  await until(() => page.evaluate(() => document.querySelector('[data-left-out]') === null), { timeoutMs: PATIENCE_MS, what: 'a list without the note' });
  for (const path of [LIST, '/deployments', '/reports', '/sessions', '/redeploys', '/audit']) {
    const linked = await open(`${path}?sate=failed`);
    await untilText(linked, '[data-left-out]', /Not filtered by sate:failed/);
  }
});

test('pages follow each other without a gap and without a row twice, and back again', { timeout: 120_000 }, async () => {
  const page = await open(LIST);
  const pages: string[][] = [await rowIds(page)];
  for (let n = 1; n < 3; n++) {
    await page.click('a[rel=next]');
    await until(async () => (await rowIds(page))[0] !== pages[n - 1]![0], { timeoutMs: PATIENCE_MS, what: 'the next page' });
    pages.push(await rowIds(page));
  }
  expect(await page.locator('a[rel=next]').count()).toBe(0);
  const all = pages.flat();
  expect(all).toHaveLength(COUNT);
  expect(all).toEqual([...new Set(all)].sort().reverse());
  await page.click('a[rel=prev]');
  await until(async () => (await rowIds(page))[0] === pages[1]![0], { timeoutMs: PATIENCE_MS, what: 'the page before' });
  expect(await rowIds(page)).toEqual(pages[1]);
});

test('an archive that is read in one direction leads back to its newest page', { timeout: 120_000 }, async () => {
  for (let n = 0; n < 60; n++) await insertWorker(database.pool, { label: `past-${n}`, started_at: sql(`now() - interval '${100 + n} hours'`), stopped_at: sql(`now() - interval '${99 + n} hours'`) });
  const page = await open('/workers?show=all');
  expect(await page.locator('.pager a').allTextContents()).toEqual(['Older']);
  await page.click('a[rel=next]');
  await untilText(page, '[aria-label=Processes]', /past-59/);
  expect(await page.locator('.pager a').allTextContents()).toEqual(['Newest']);
  await page.click('.pager a');
  await untilPath(page, '/workers?show=all');
  await untilText(page, '[aria-label=Processes]', /past-0/);
});

test('while a row is selected new rows wait behind a pill, and come in when it is pressed', { timeout: 120_000 }, async () => {
  const page = await open(`${LIST}?user=someone`);
  expect(await page.textContent('main')).toMatch(/Nothing matches/);
  const first = await insertParseItem(database.pool, { user_id: 'someone', filename: 'first.pdf' });
  await untilText(page, `[data-row-id="${first.id}"]`, /first\.pdf/);   // nobody reads: it comes by itself
  await page.check(`[data-row-id="${first.id}"] input`);
  await page.mouse.move(700, 30);

  const second = await insertParseItem(database.pool, { user_id: 'someone', filename: 'second.pdf' });
  await untilText(page, '.pill', /^1 new$/);
  const third = await insertParseItem(database.pool, { user_id: 'someone', filename: 'third.pdf' });
  await insertParseItem(database.pool, { user_id: 'another' });
  await untilText(page, '.pill', /^2 new$/);
  expect(await rowIds(page)).toEqual([first.id]);
  await page.click('.pill');
  await until(async () => (await rowIds(page)).length === 3, { timeoutMs: PATIENCE_MS, what: 'the rows behind the pill' });
  expect(await rowIds(page)).toEqual([third.id, second.id, first.id]);
  expect(await page.getAttribute(`[data-row-id="${first.id}"]`, 'data-selected')).toBe('true');
  expect(await page.locator('.pill').count()).toBe(0);
});

test('names and error texts from outside are text, whatever is in them', { timeout: 120_000 }, async () => {
  const names = [
    '<img src=x onerror="window.hacked=1">.pdf', '\u202Efdp.exe\u202C gnp.pdf', `${'long'.repeat(62)}end.pdf`, '"><script>window.hacked=1</script>.pdf', 'دليل المستخدم (٣).pdf', '{{7*7}} ${1} %s \\n.pdf', ' ',
  ];
  const items = [];
  for (const [n, filename] of names.entries()) {
    items.push(await insertParseItem(database.pool, { user_id: 'hostile', filename, state: 'failed', error_code: 'damaged_pdf', error_message: `<b onclick="x">${n}</b> </script><script>window.hacked=1</script> \u202E backwards` }));
  }
  const page = await open(`${LIST}?user=hostile`);
  for (const [n, { id }] of items.entries()) {
    expect(await page.textContent(`[data-row-id="${id}"] .row-link bdi`)).toBe(names[n]);
  }
  expect(await page.locator('main img, main b[onclick], main td script').count()).toBe(0);
  for (const n of [0, 1, 2, 3]) {
    await page.goto(`${web.url}${LIST}/${items[n]!.id}`);
    await untilFeed(page, 'live');
    expect(await page.textContent('h1 bdi')).toBe(names[n]);
    expect(await page.evaluate(() => document.querySelector('h1 bdi')!.scrollWidth <= document.querySelector('h1 bdi')!.clientWidth)).toBe(true);   // the whole of it
    expect(await page.textContent('.error-text pre')).toContain(`<b onclick="x">${n}</b> </script>`);
    expect(await page.evaluate(() => [document.documentElement.scrollWidth <= window.innerWidth, 'hacked' in window])).toEqual([true, false]);
  }
  await page.goto(`${web.url}/?q=<script>window.hacked=1</script>`);
  await untilFeed(page, 'live');
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
});

test('ages tick on the page, with the instant itself in the viewer’s zone and in UTC on hover', { timeout: 60_000 }, async () => {
  const page = await open(LIST);
  const age = page.locator('tr[data-row-id] td[data-label=age] time').first();
  const shown = await age.textContent();
  expect(await age.getAttribute('title')).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d (CET|CEST|GMT\+[12]) · \d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$/);
  await until(async () => await age.textContent() !== shown, { timeoutMs: PATIENCE_MS, what: 'an age that ticks' });
});
