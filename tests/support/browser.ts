/** A real Chromium over the built console. Whatever a page complains of (console, exceptions, refusals of its policy) fails the test. */
import { setTimeout as pause } from 'node:timers/promises';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { findChromium } from './chromium.mjs';
import { until } from './until.js';

interface TabOptions {
  /** `name=value`, as `signedIn` answers it. */
  cookie?: string;
  theme?: 'light' | 'dark';
  width?: number;
  /** Done before the page is asked for. */
  before?: (page: Page) => Promise<unknown>;
}

interface TestBrowser {
  /** A tab of its own, with its own cookies; closed after the test. */
  tab(url: string, options?: TabOptions): Promise<Page>;
  /** A page may complain so in this test: an outage is on purpose. */
  expectComplaint(pattern: RegExp): void;
}

/** A busy machine takes its time to draw (ms). */
export const PATIENCE_MS = 60_000;

/** `BROWSER_SLOWDOWN=8 npm test -- tests/browser` looks for what only a busy machine shows: a processor that much slower, and scripts that come late. */
const SLOWDOWN = Number(process.env.BROWSER_SLOWDOWN ?? 1);

const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions'];

/** Call it at the top of a file: one Chromium for its tests, with an empty profile. */
export function testBrowser(): TestBrowser {
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  const expected: RegExp[] = [];
  beforeAll(async () => {
    const { args, ...found } = await findChromium();
    const env = Object.fromEntries(Object.entries(found.env).filter((entry): entry is [string, string] => entry[1] !== undefined));
    browser = await chromium.launch({ ...found, env, args: [...args, ...quiet], headless: true, timeout: PATIENCE_MS });
  }, 2 * PATIENCE_MS);
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    const unexpected = complaints.splice(0).filter((text) => !expected.some((pattern) => pattern.test(text)));
    expected.length = 0;
    if (unexpected.length > 0) throw new Error(`A page complained:\n${unexpected.join('\n')}`);
  });
  afterAll(() => browser?.close());
  return {
    expectComplaint: (pattern) => void expected.push(pattern),
    async tab(url, { cookie, theme = 'light', width = 1440, before } = {}) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, timezoneId: 'Europe/Berlin', locale: 'en-GB' });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE_MS);
      context.on('console', (message) => void (['error', 'warning'].includes(message.type()) && complaints.push(`${message.type()}: ${message.text()} (${message.location().url})`)));
      context.on('weberror', (error) => void complaints.push(`exception: ${error.error().stack}`));
      if (cookie) await context.addCookies([cookieOf(url, cookie)]);
      const page = await context.newPage();
      if (SLOWDOWN > 1) await slowDown(page);
      await before?.(page);
      await page.goto(url, { waitUntil: 'load' });
      return page;
    },
  };
}

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await pause(100 * SLOWDOWN);
    await route.continue().catch(() => undefined);   // the page has gone on to another
  });
}

function cookieOf(url: string, cookie: string) {
  const at = cookie.indexOf('=');
  return { name: cookie.slice(0, at), value: cookie.slice(at + 1), url: new URL(url).origin, httpOnly: true };
}

/** What the feed indicator says, or null before it is there. */
export function feedOf(page: Page): Promise<string | null> {
  return page.evaluate(() => document.querySelector('[data-feed]')?.getAttribute('data-feed') ?? null);
}

/** From then on the page reacts to keys and clicks, and follows the database. */
export async function untilFeed(page: Page, state: 'live' | 'polling' | 'offline' | 'catching_up'): Promise<void> {
  await until(async () => await feedOf(page) === state, { timeoutMs: PATIENCE_MS, what: `a page that is ${state}` });
}

/** From then on a form is the page's own: before, the browser sends it, and the document is loaded anew. For pages without a feed. */
export async function untilOwn(page: Page): Promise<void> {
  await until(() => page.evaluate(() => Object.keys(document.documentElement).some((key) => key.startsWith('__reactProps'))), { timeoutMs: PATIENCE_MS, what: 'a page that reacts' });
}

/** Waits until the text of the first match has this in it; says what was there instead when it does not come. */
export async function untilText(page: Page, selector: string, pattern: RegExp): Promise<string> {
  let last: string | null = null;
  return until(async () => {
    last = await page.evaluate((wanted) => document.querySelector(wanted)?.textContent ?? null, selector);
    return last !== null && pattern.test(last) && last;
  }, { timeoutMs: PATIENCE_MS, what: `${pattern} in ${selector}` }).catch((error: Error) => {
    throw new Error(`${error.message}; last there: ${JSON.stringify(last)}`, { cause: error });
  });
}

/** Scripts of the page, by the beginning of their name, that do not come before they are released: `tab(url, { before: late.hold })`. */
export function heldScript(name: string): { hold: (page: Page) => Promise<unknown>; release: () => void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => { release = resolve; });
  const hold = (page: Page) => page.route(new RegExp(`/assets/${name}-[^/]+\\.js$`), async (route) => {
    await released;
    await route.continue().catch(() => undefined);   // the page may be closed
  });
  return { hold, release };
}

/** Marks this very document; `isSame` is false once it has been loaded anew. */
export async function mark(page: Page): Promise<{ isSame(): Promise<boolean> }> {
  await page.evaluate(() => void Object.assign(window, { testMark: true }));
  return { isSame: () => page.evaluate(() => 'testMark' in window) };
}
