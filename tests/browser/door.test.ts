import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperator, createSigninLink } from '../../server/operations/accounts.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url);
  web = await fleet.web();
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

let serial = 0;
async function signinLink(): Promise<string> {
  const operator = await createOperator(database.pool, `Ada ${serial++}`, 'admin');
  return `${web.url}/signin/${await createSigninLink(database.pool, operator!.id)}`;
}

test('a one-time link shows a button, the button opens Now, and the link is used up', { timeout: 120_000 }, async () => {
  browser.expectComplaint(/410/);   // Chromium notes the status of the refused page
  const link = await signinLink();
  const page = await browser.tab(link);
  expect(await page.textContent('main')).toMatch(/signs you in as Ada \d+\. It works once\./);
  await page.reload();   // looking at it does not use it
  await page.click('button:has-text("Sign in")');
  await untilFeed(page, 'live');
  expect(new URL(page.url()).pathname).toBe('/');

  const other = await browser.tab(link);
  expect(await other.textContent('main')).toMatch(/This link does not open the door.*was used already.*npx leaseboard signin-link/s);
  expect(await other.locator('button').count()).toBe(0);
});

test('no page is reachable without a session, and after signing in the page that was asked for opens', { timeout: 120_000 }, async () => {
  const id = '01890000-0000-7000-8000-000000000000';
  const page = await browser.tab(`${web.url}/workers`);
  for (const path of ['/', '/workers', '/queues', '/queues/parse-items?state=failed', `/queues/parse-items/${id}`, '/nowhere']) {
    await page.goto(`${web.url}${path}`);
    const { pathname, searchParams } = new URL(page.url());
    expect([path, pathname, searchParams.get('returnTo') ?? '/']).toEqual([path, '/signin', path]);
    expect(await page.textContent('h1')).toBe('Sign in');
    expect(await page.locator('.rail').count()).toBe(0);
  }
  await page.goto(`${web.url}/workers?show=all`);
  const asked = page.url();
  const link = await page.context().newPage();
  await link.goto(await signinLink());
  await link.click('button:has-text("Sign in")');
  await untilFeed(link, 'live');
  await page.goto(asked);
  expect(page.url()).toBe(`${web.url}/workers?show=all`);
});

test('signing out ends the session in every tab', { timeout: 120_000 }, async () => {
  const page = await browser.tab(await signinLink());
  await page.click('button:has-text("Sign in")');
  await untilFeed(page, 'live');
  const other = await page.context().newPage();
  await other.goto(`${web.url}/workers`);
  await untilFeed(other, 'live');
  await page.bringToFront();
  await page.click('[aria-label^="Signed in as"]');
  await page.click('.menu-item:has-text("Sign out")');
  await page.waitForURL(`${web.url}/signin`);
  await other.bringToFront();
  await other.waitForURL(/\/signin/);
  await page.goto(`${web.url}/`);
  expect(new URL(page.url()).pathname).toBe('/signin');
});

test('a chosen theme is there in the first paint of the next page', { timeout: 120_000 }, async () => {
  const page = await browser.tab(await signinLink(), { theme: 'light' });
  await page.click('button:has-text("Sign in")');
  await untilFeed(page, 'live');
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await paper();
  await page.click('[aria-label^="Signed in as"]');
  await page.click('[role=menuitemradio]:has-text("Dark")');
  const dark = await paper();
  expect(dark).not.toBe(light);

  // Its very first HTML says so: no script has to run before it is dark.
  const [answer] = await Promise.all([page.waitForResponse(`${web.url}/workers`), page.goto(`${web.url}/workers`)]);
  expect(await answer.text()).toMatch(/<html[^>]* data-theme="dark"/);
  expect(await paper()).toBe(dark);
  await untilFeed(page, 'live');
  await page.click('[aria-label^="Signed in as"]');
  await page.click('[role=menuitemradio]:has-text("As the system")');
  expect(await paper()).toBe(light);
  await page.reload();
  await untilText(page, 'h1', /Workers/);
  expect(await paper()).toBe(light);
});
