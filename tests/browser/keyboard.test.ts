import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idFrom } from '../console/rows.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { PATIENCE_MS, testBrowser, untilFeed } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem } from '../support/factories.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let cookie: string;
/** Newest first, as they are listed. */
let ids: string[];

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  ids = [10, 20, 30].map(idFrom);
  for (const id of ids) await insertParseItem(database.pool, { id });
  fleet = await startFleet(database.url);
  web = await fleet.web();
  ({ cookie } = await signedIn(database, 'operator'));
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

async function open(path: string): Promise<Page> {
  const page = await browser.tab(`${web.url}${path}`, { cookie });
  await untilFeed(page, 'live');
  return page;
}

const untilAt = (page: Page, path: string) => until(() => new URL(page.url()).pathname === path, { timeoutMs: PATIENCE_MS, what: `the page ${path}` });
const cursorOf = (page: Page) => page.evaluate(() => document.querySelector('[data-cursor=true]')?.getAttribute('data-row-id') ?? null);
const untilCursor = (page: Page, id: string | null) => until(async () => await cursorOf(page) === id, { timeoutMs: PATIENCE_MS, what: `the cursor on ${id}` });

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

test('g and a letter go from page to page, ? explains the keys, and esc closes that', { timeout: 120_000 }, async () => {
  const page = await open('/');
  await press(page, 'g', 'q');
  await until(() => new URL(page.url()).pathname.startsWith('/queues/'), { timeoutMs: PATIENCE_MS });
  await press(page, 'g', 'w');
  await untilAt(page, '/workers');
  await press(page, 'g', 'n');
  await untilAt(page, '/');
  await press(page, '?');
  const help = page.locator('[role=dialog]');
  await help.waitFor();
  expect(await help.textContent()).toMatch(/Keyboard.*Now.*Queues.*Workers.*Select the row.*Open the row/s);
  await press(page, 'g', 'w');   // a dialog keeps the keys to itself
  await press(page, 'Escape');
  await help.waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/');
});

test('g and its letter are one, however late a busy page hears of the letter', { timeout: 120_000 }, async () => {
  const page = await open('/');
  await page.evaluate(() => {
    const [first, second] = ['g', 'w'].map((key) => new KeyboardEvent('keydown', { key, bubbles: true }));   // pressed one right after the other
    document.body.dispatchEvent(first!);
    for (const end = performance.now() + 1_500; performance.now() < end;);
    document.body.dispatchEvent(second!);
  });
  await untilAt(page, '/workers');
});

test('an escape that comes together with the focus closes what has got it: the palette, the help, a menu, and a card that was opened from a menu', { timeout: 180_000 }, async () => {
  const page = await open('/queues/parse-items');
  for (const key of ['/', '?']) {
    await escapeWithFocus(page, '[role=dialog]');
    await press(page, key);
    await untilEscaped(page, '[role=dialog]');
  }
  await escapeWithFocus(page, '[role=menu]');
  await press(page, 'j', 'a');
  await untilEscaped(page, '[role=menu]');
  await press(page, 'a');
  await until(() => page.evaluate(() => document.activeElement?.matches('[role=menuitem]')), { timeoutMs: PATIENCE_MS, what: 'the focus in the menu' });
  await escapeWithFocus(page, '[role=dialog]');
  await press(page, 'End', 'ArrowUp', 'Enter');   // cancel
  await untilEscaped(page, '[role=dialog]');
});

test('a menu that a key opens again right after an escape stays open: the focus is given back in a timer, and by then it is in the menu', { timeout: 120_000 }, async () => {
  const page = await open('/queues/parse-items');
  await press(page, 'j', 'a');
  await until(() => page.evaluate(() => document.activeElement?.matches('[role=menuitem]')), { timeoutMs: PATIENCE_MS, what: 'the focus in the menu' });
  const seen = await page.evaluate(async () => {
    const press = (key: string) => document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const isOpen = () => document.querySelector('[role=menu]') !== null;
    press('Escape');
    for (let n = 0; n < 1_000 && isOpen(); n++) await Promise.resolve();   // no timer comes in between
    const closed = !isOpen();
    press('a');
    for (let n = 0; n < 1_000 && !isOpen(); n++) await Promise.resolve();
    const opened = isOpen();
    for (let n = 0; n < 5; n++) await new Promise((resolve) => { setTimeout(resolve); });
    return { closed, opened, stays: isOpen() };
  });
  expect(seen).toEqual({ closed: true, opened: true, stays: true });
  await until(() => page.evaluate(() => document.activeElement?.matches('[role=menuitem]')), { timeoutMs: PATIENCE_MS, what: 'the focus in the menu' });
});

/** Presses escape in the moment in which the focus comes to something there. */
async function escapeWithFocus(page: Page, there: string): Promise<void> {
  await page.evaluate((selector) => {
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target as Element).closest(selector)) return;
      document.removeEventListener('focusin', onFocus, true);
      Object.assign(window, { escaped: true });
      target!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
    };
    document.addEventListener('focusin', onFocus, true);
    Object.assign(window, { escaped: false });
  }, there);
}

const untilEscaped = (page: Page, from: string) => until(() => page.evaluate((selector) => (window as unknown as { escaped: boolean }).escaped && !document.querySelector(selector), from), { timeoutMs: PATIENCE_MS, what: `an escape from ${from}` });

test('j and k move through a list, x selects, enter opens, and esc leaves it', { timeout: 120_000 }, async () => {
  const page = await open('/queues/parse-items');
  await press(page, 'j');
  await untilCursor(page, ids[0]!);
  await press(page, 'j');
  await untilCursor(page, ids[1]!);
  await press(page, 'j', 'j');
  await untilCursor(page, ids[2]!);   // and no further
  await press(page, 'k');
  await untilCursor(page, ids[1]!);
  await press(page, 'x');
  await until(async () => await page.getAttribute(`[data-row-id="${ids[1]}"]`, 'data-selected') === 'true', { timeoutMs: PATIENCE_MS, what: 'the row selected' });
  expect(await page.textContent('.queue-tools')).toMatch(/1 selected/);
  await press(page, 'x', 'Escape');
  await untilCursor(page, null);
  expect(await page.locator('[data-selected=true]').count()).toBe(0);
  await press(page, 'j', 'Enter');
  await untilAt(page, `/queues/parse-items/${ids[0]}`);
});

test('f leads to the filter box, in which the other keys are only letters', { timeout: 120_000 }, async () => {
  const page = await open('/queues/parse-items');
  await press(page, 'f');
  await page.keyboard.type('gwjx?/f');
  expect(await page.inputValue('[data-filter-box]')).toBe('gwjx?/f');
  expect(await cursorOf(page)).toBeNull();
  expect(await page.locator('[role=dialog]').count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe('/queues/parse-items');
});

test('the first tab stop skips to the page, and every stop can be seen and named', { timeout: 120_000 }, async () => {
  const page = await open('/queues/parse-items');
  await press(page, 'Tab');
  expect(await page.evaluate(() => [document.activeElement?.textContent, document.activeElement!.getBoundingClientRect().top >= 0])).toEqual(['Skip to the page', true]);
  const stops: string[] = [];
  for (let n = 0; n < 30; n++) {
    await press(page, 'Tab');
    const stop = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      if (element === document.body) return null;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      const seen = (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) || boxShadow !== 'none';
      const name = element.getAttribute('aria-label') ?? (element.textContent || (element as HTMLInputElement).labels?.[0]?.textContent || '');
      return { what: `${element.tagName} ${name.trim()}`, seen, named: name.trim() !== '' };
    });
    if (!stop) break;
    stops.push(stop.what);
    expect(stop).toMatchObject({ seen: true, named: true });
  }
  expect(stops.length).toBeGreaterThan(15);

  await page.reload();
  await untilFeed(page, 'live');
  await press(page, 'Tab', 'Enter');
  await until(() => page.evaluate(() => document.activeElement?.id === 'content'), { timeoutMs: PATIENCE_MS, what: 'the focus on the page itself' });
});
