import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAnalysis, insertCitation } from '../console/report-rows.js';
import { idFrom } from '../console/rows.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { heldScript, PATIENCE_MS, testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument, insertParseItem, insertParseJob, insertRow, sql } from '../support/factories.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let cookie: string;

const ADDRESS = 'anna.weber@uni-bonn.example';

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  await fill();
  fleet = await startFleet(database.url, { SWEEP_SECONDS: '3600' });
  web = await fleet.web();
  ({ cookie } = await signedIn(database, 'viewer'));
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

/** One customer whose report is being checked, and two others whose files are called alike. */
async function fill(): Promise<void> {
  const anna = { user_id: 'user-anna', session_id: 'session-anna' };
  const job = await insertParseJob(database.pool, { id: idFrom(900), ...anna, user_email: 'Anna.Weber@uni-bonn.example', state: 'succeeded', succeeded_children: 2, total_children: 2 });
  const document = await insertDocument(database.pool, { user_id: anna.user_id, filename: 'Müller 2019.pdf' });
  await insertRow(database.pool, 'session_sources', { ...anna, document_id: document.id, linked_by: 'parse_item' });
  for (const filename of ['Müller 2019.pdf', 'Thesis Weber.pdf']) await insertParseItem(database.pool, { id: idFrom(899), ...anna, job_id: job.id, filename, state: 'succeeded' });
  const analysis = await insertAnalysis(database.pool, { id: idFrom(600), ...anna, total_children: 2, open_children: 1, claims_total: 2, marks_seen: 2, marks_resolved: 2 });
  await insertCitation(database.pool, analysis.id, 0, { id: idFrom(599), ...anna, state: 'succeeded' });
  await insertCitation(database.pool, analysis.id, 1, { id: idFrom(598), ...anna, state: 'failed', error_message: 'it said: secret', finished_at: sql('now()') });
  for (const name of ['ben', 'cem']) {
    const other = { user_id: `user-${name}`, session_id: `session-${name}` };
    const { id: job_id } = await insertParseJob(database.pool, { ...other, user_email: `${name}@mail.example` });
    await insertParseItem(database.pool, { ...other, job_id, filename: `Masterarbeit ${name}.pdf` });
  }
}

async function open(path: string): Promise<Page> {
  const page = await browser.tab(`${web.url}${path}`, { cookie });
  await untilFeed(page, 'live');
  return page;
}

const palette = (page: Page) => page.locator('[role=dialog]');
const untilPlace = (page: Page, wanted: RegExp) => until(() => wanted.test(page.url().slice(web.url.length)), { timeoutMs: PATIENCE_MS, what: `the address ${wanted}` });
const untilFound = (page: Page, text: RegExp) => untilText(page, '.palette-list', text);
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '');

test('from a cold start: a slash, the address, enter, enter, and the answer for the customer is in the clipboard', { timeout: 180_000 }, async () => {
  const page = await browser.tab(`${web.url}/`, { cookie });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await untilFeed(page, 'live');
  let keys = 0;
  const press = async (key: string) => {
    keys += 1;
    await page.keyboard.press(key);
  };
  await press('/');
  await page.keyboard.type(ADDRESS);
  await press('Enter');
  await page.locator('[data-answer=en]').waitFor();
  await until(async () => /Copy English/.test(await focused(page)), { timeoutMs: PATIENCE_MS, what: 'the focus on the copy button' });
  await Promise.all([page.locator('.answer-language button:has-text("Copied")').waitFor(), press('Enter')]);   // it says so for a moment only
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(keys).toBeLessThanOrEqual(5);
  expect(copied).toBe(await page.textContent('[data-answer=en]'));
  expect(copied.length).toBeGreaterThan(20);
  expect(copied).not.toMatch(/secret|anna|session|[0-9a-f]{8}-/i);
  expect(new URL(page.url()).searchParams.get('q')).toBe(ADDRESS);
});

test('letters that are typed before the palette is there are its own, and press no shortcut of the page', { timeout: 120_000 }, async () => {
  const page = await open('/queues/parse-items');
  await page.evaluate(() => {
    for (const key of ['/', 'g', 'w', 'x', 'Backspace']) document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  });
  await until(async () => await page.inputValue('.palette-input') === 'gw', { timeoutMs: PATIENCE_MS, what: 'what was typed in the palette' });
  await page.keyboard.type('zz');
  expect(await page.inputValue('.palette-input')).toBe('gwzz');
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
  await page.keyboard.press('f');   // the page has its keys back
  expect(await page.evaluate(() => document.activeElement?.hasAttribute('data-filter-box'))).toBe(true);
  expect(new URL(page.url()).pathname).toBe('/queues/parse-items');
});

test('the focus does not go back to where it was when a key has sent it elsewhere right after the palette was closed', { timeout: 120_000 }, async () => {
  const page = await open('/queues/parse-items');
  await page.focus('.find-button');
  await page.keyboard.press('Enter');
  await until(() => page.evaluate(() => document.activeElement?.matches('.palette-input')), { timeoutMs: PATIENCE_MS, what: 'the focus in the palette' });
  expect(await page.evaluate(async () => {
    const press = (key: string) => document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    press('Escape');
    await Promise.resolve();
    press('f');
    await new Promise((resolve) => { setTimeout(resolve); });   // the focus comes back in a timer that was set before this one
    return document.activeElement?.hasAttribute('data-filter-box');
  })).toBe(true);
  await page.keyboard.press('Control+k');
  await until(() => page.evaluate(() => document.activeElement?.matches('.palette-input')), { timeoutMs: PATIENCE_MS, what: 'the focus in the palette' });
  await page.keyboard.press('Escape');
  await until(() => page.evaluate(() => document.activeElement?.hasAttribute('data-filter-box')), { timeoutMs: PATIENCE_MS, what: 'the focus back in the filter box' });
});

test('the answer does not wait for the palette, and an escape takes it back before it is there', { timeout: 120_000 }, async () => {
  const late = heldScript('find-palette');
  const page = await browser.tab(`${web.url}/`, { cookie, before: late.hold });
  await untilFeed(page, 'live');
  await page.keyboard.press('/');
  await page.keyboard.type('gw');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');   // the page has its keys back
  await page.keyboard.press('q');
  await untilPlace(page, /^\/queues\//);
  await page.keyboard.press('/');
  await page.keyboard.type(` ${ADDRESS}`);
  await page.keyboard.press('Enter');
  await page.locator('[data-answer=en]').waitFor();
  expect(new URL(page.url()).searchParams.get('q')).toBe(ADDRESS);
  expect(await palette(page).count()).toBe(0);
  late.release();
  await page.keyboard.press('Control+k');
  await untilFound(page, /Recent searches.*anna\.weber@uni-bonn\.example/s);
});

test('hits come as they are typed, and arrows and enter open one; esc closes; a field keeps its slash, and Ctrl-K opens from within it', { timeout: 180_000 }, async () => {
  const page = await open('/queues/parse-items');
  await page.keyboard.press('f');
  await page.keyboard.type('a/b');
  expect(await page.inputValue('[data-filter-box]')).toBe('a/b');
  expect(await palette(page).count()).toBe(0);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('masterarb');
  await untilFound(page, /Files by name.*Masterarbeit cem\.pdf.*Masterarbeit ben\.pdf/s);
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/queues/parse-items');

  await page.keyboard.press('Control+k');
  await page.keyboard.type('masterarbeit');
  await untilFound(page, /Masterarbeit cem\.pdf/);
  await page.locator('.palette-input[aria-busy=false]').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await until(async () => /Masterarbeit ben/.test(await page.locator('.palette-item[data-selected=true]').textContent() ?? ''), { timeoutMs: PATIENCE_MS, what: 'the second file' });
  await page.keyboard.press('Enter');
  await untilPlace(page, /^\/find\?q=masterarbeit&user=user-ben&session=session-ben$/);
  await page.locator('[data-answer=de]').waitFor();
  expect(await page.locator('.hits li[aria-current=true]').textContent()).toMatch(/Masterarbeit ben\.pdf/);
});

test('pages and queues are entries as well', { timeout: 120_000 }, async () => {
  const page = await open('/');
  await page.keyboard.press('/');
  await page.keyboard.type('citat');
  await untilFound(page, /Where is “citat”.*Pages.*Citations/s);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await untilPlace(page, /^\/queues\/citations$/);
});

test('an answer that was overtaken by further typing is never shown', { timeout: 120_000 }, async () => {
  const page = await open('/');
  let release = () => {};
  const held = new Promise<void>((resolve) => { release = resolve; });
  let asked = 0;
  await page.route(/\/find\/hits\?q=master$/, async (route) => {
    asked += 1;
    await held;
    await route.continue().catch(() => {});   // the page has given up on it
  });
  await page.keyboard.press('/');
  await page.keyboard.type('master');
  await until(() => asked === 1, { timeoutMs: PATIENCE_MS, what: 'the first question' });
  await page.keyboard.type('arbeit cem');
  await untilFound(page, /Masterarbeit cem\.pdf/);
  release();
  const last = page.waitForResponse(/\/find\/hits\?q=masterarbeit\+cem\.pdf$/);
  await page.keyboard.type('.pdf');
  await last;
  await until(async () => /^$/.test((await page.textContent('.palette-status'))!), { timeoutMs: PATIENCE_MS, what: 'the last answer' });
  expect(await page.textContent('.palette-list')).not.toMatch(/ben\.pdf/);
});

test('when the server cannot be asked, the palette says so and what to do', { timeout: 120_000 }, async () => {
  browser.expectComplaint(/find\/hits|ERR_FAILED/);
  const page = await open('/');
  await page.route(/\/find\/hits/, (route) => route.abort());
  await page.keyboard.press('/');
  await page.keyboard.type('masterarbeit');
  await untilText(page, '.palette-status', /could not be asked\. Check the connection/);
});

test('where one fits in part only, it is not called one of several, and nothing is told before it is opened', { timeout: 120_000 }, async () => {
  const page = await open('/find?q=ben@mail');
  expect(await page.textContent('.find-choice')).toMatch(/^One fits in part\. Open it/);
  expect(await page.locator('[data-answer]').count()).toBe(0);
});

test('where more than one fits, nothing is told until one is chosen', { timeout: 120_000 }, async () => {
  const page = await open('/find?q=masterarbeit');
  expect(await page.textContent('main')).toMatch(/More than one fits/);
  expect(await page.locator('[data-answer]').count()).toBe(0);
  await until(async () => /Masterarbeit cem/.test(await focused(page)), { timeoutMs: PATIENCE_MS, what: 'the focus on the first hit' });
  await page.keyboard.press('ArrowDown');
  expect(await focused(page)).toMatch(/Masterarbeit ben/);
  await page.keyboard.press('Enter');
  await page.locator('[data-answer=en]').waitFor();
  expect(page.url()).toContain('user=user-ben');
});

test('the page answers while somebody types, keeps the focus in the box, and enter takes it to the answer', { timeout: 120_000 }, async () => {
  const page = await open('/find');
  expect(await page.textContent('main')).toMatch(/an e-mail address/);
  await until(() => page.evaluate(() => document.activeElement?.getAttribute('name') === 'q'), { timeoutMs: PATIENCE_MS, what: 'the focus in the box' });
  await page.keyboard.type(ADDRESS);
  await page.locator('[data-answer=en]').waitFor();
  await untilPlace(page, /^\/find\?q=anna\.weber/);
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('q');
  expect(await page.inputValue('.find-box')).toBe(ADDRESS);
  await page.keyboard.press('Enter');
  await until(async () => /Copy English/.test(await focused(page)), { timeoutMs: PATIENCE_MS, what: 'the focus on the copy button' });
});

test('what nobody is called gets an answer for the customer, too', { timeout: 120_000 }, async () => {
  const page = await open('/find?q=nobody%40nowhere.example');
  expect(await page.textContent('main')).toMatch(/Nothing is called that/);
  expect(await page.getAttribute('[data-situation]', 'data-situation')).toBe('not_found');
  expect(await page.textContent('[data-answer=de]')).toMatch(/\S+ \S+/);
});

test('recent searches are kept in the browser for whoever made them, are only what was typed, and can be forgotten', { timeout: 180_000 }, async () => {
  const page = await open('/');
  await page.keyboard.press('/');
  await page.keyboard.type(ADDRESS);
  await page.keyboard.press('Enter');
  await page.locator('[data-answer=en]').waitFor();
  const stored = await page.evaluate(() => JSON.stringify(Object.entries(localStorage)));
  expect(stored).toContain(ADDRESS);
  expect(stored).not.toMatch(/secret|M.ller|session-anna|user-anna/);
  await page.keyboard.press('/');
  await untilFound(page, /Recent searches.*anna\.weber@uni-bonn\.example.*Forget/s);

  const { cookie: other } = await signedIn(database, 'viewer');
  await page.context().addCookies([{ name: other.split('=')[0]!, value: other.slice(other.indexOf('=') + 1), url: web.url, httpOnly: true }]);
  await page.goto(`${web.url}/find`);
  await untilFeed(page, 'live');
  expect(await page.textContent('main')).not.toMatch(/Recent searches/);

  await page.context().addCookies([{ name: cookie.split('=')[0]!, value: cookie.slice(cookie.indexOf('=') + 1), url: web.url, httpOnly: true }]);
  await page.goto(`${web.url}/find`);
  await untilText(page, 'main', /Recent searches/);
  await page.click('text=Forget them');
  await until(async () => !/Recent searches/.test((await page.textContent('main'))!), { timeoutMs: PATIENCE_MS, what: 'an empty list' });
  expect(await page.evaluate(() => localStorage.getItem('leaseboard.find.recent'))).toBeNull();
});

test('a viewer finds and is told everything but text', { timeout: 120_000 }, async () => {
  const read = async (path: string) => (await fetch(`${web.url}${path}`, { headers: { cookie } })).text();
  for (const q of [ADDRESS, 'session-anna', 'thesis weber']) {
    for (const path of ['/find', '/find/hits']) expect([q, await read(`${path}?q=${encodeURIComponent(q)}`)]).toEqual([q, expect.not.stringMatching(/secret|ten letter/i)]);
  }
  for (const text of ['a secret claim', 'it said: secret', 'since secret']) expect(await read(`/find/hits?q=${encodeURIComponent(text)}`)).toMatch(/"groups":\[\]/);
});

test('the answer leads to the session, where a press builds its index and says what came of it', { timeout: 120_000 }, async () => {
  const page = await open(`/find?q=${ADDRESS}`);
  await page.click('[data-told] a');
  await untilPlace(page, /^\/sessions\/session-anna\?user=user-anna$/);
  await page.click('text=Try it now');
  await untilText(page, '[data-trial=built]', /Built in .+ 2 chunks of 1 document, 20 characters/);
  expect(await faultsOf(page, 'html')).toEqual([]);
});

test('the page and the palette can be used by everyone, light and dark, wide and narrow', { timeout: 300_000 }, async () => {
  for (const path of ['/find', `/find?q=${ADDRESS}`, '/find?q=masterarbeit', '/find?q=nobody-at-all']) {
    const page = await open(path);
    expect({ path, faults: await faultsOf(page, 'html') }).toEqual({ path, faults: [] });
    await page.close();
  }
  const page = await open('/');
  await page.keyboard.press('/');
  await page.keyboard.type('weber');
  await untilFound(page, /Thesis Weber\.pdf/);
  expect(await faultsOf(page, '[role=dialog]')).toEqual([]);
});

async function faultsOf(page: Page, part: string): Promise<string[]> {
  const faults: string[] = [];
  await page.evaluate(axe.source);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      faults.push(...await page.evaluate(async ([selector, look]) => {
        const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(selector!, { resultTypes: ['violations'] });
        const bad = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => `${look}: ${id}: ${nodes[0]!.html.slice(0, 200)}`);
        return document.documentElement.scrollWidth > window.innerWidth ? [...bad, `${look}: scrolls sideways`] : bad;
      }, [part, `${colorScheme} ${width}`]));
    }
  }
  return faults;
}
