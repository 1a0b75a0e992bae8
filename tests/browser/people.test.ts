import fs from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken, createOperator, createSigninLink } from '../../server/operations/accounts.js';
import { redeemSigninLink } from '../../server/operations/sign-in.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { PATIENCE_MS, testBrowser, untilFeed, untilOwn, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const browser = testBrowser();
const PASSWORD = 'canary battery staple horse';
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url, { LOG_LEVEL: 'trace' });
  web = await fleet.web();
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

async function open(path: string, cookie: string, more: { theme?: 'light' | 'dark'; width?: number } = {}): Promise<Page> {
  const page = await browser.tab(`${web.url}${path}`, { cookie, ...more });
  await untilFeed(page, 'live');
  return page;
}

const audit = async (action: string) => (await database.pool.query<{ outcome: string; reason: string }>('select outcome, reason from operator_actions where action = $1 order by id', [action])).rows;

test('an admin adds a person, who comes by the link, chooses a password, and signs in with it; every secret is shown once and kept nowhere', { timeout: 300_000 }, async () => {
  browser.expectComplaint(/401/);   // Chromium notes the status of the refused sign-in
  const { cookie } = await signedIn(database, 'admin');
  const admin = await open('/settings/people', cookie);
  await admin.click('button:has-text("Add a person")');
  await admin.fill('[role=dialog] [name=name]', 'Nora New');
  await admin.selectOption('[role=dialog] [name=role]', 'viewer');
  await admin.fill('[role=dialog] [name=reason]', 'first day');
  await admin.click('[role=dialog] button[type=submit]');
  const link = await untilText(admin, '[data-secret]', /\/signin\/[\w-]{43}$/);
  await admin.click('[role=dialog] button:has-text("Close")');
  await untilText(admin, '[data-person="Nora New"]', /viewer.*link only/);
  expect(await admin.content()).not.toContain(link.split('/').at(-1));

  const nora = await browser.tab(link.replace(/^https?:\/\/[^/]+/, web.url));
  await nora.click('summary');
  await nora.fill('[name=password]', PASSWORD);
  await nora.fill('[name=again]', PASSWORD);
  await nora.click('button:has-text("Sign in")');
  await untilFeed(nora, 'live');
  await nora.goto(`${web.url}/settings`);
  await untilText(nora, 'main', /Nora New.*viewer.*with a password/s);
  expect(await nora.locator('.settings-tabs a').allTextContents()).toEqual(['Your account']);

  const again = await browser.tab(`${web.url}/signin?returnTo=%2Fworkers`);
  await untilOwn(again);   // what was typed stays after a refusal
  await again.fill('[name=name]', 'nora new');
  await again.fill('[name=password]', 'canary wrong password');
  await again.keyboard.press('Enter');
  await untilText(again, '[role=alert]', /No account that may sign in/);
  await again.fill('[name=password]', PASSWORD);
  await again.keyboard.press('Enter');
  await again.waitForURL(`${web.url}/workers`, { timeout: PATIENCE_MS });
  await untilFeed(again, 'live');
  expect(await audit('create_account')).toEqual([{ outcome: 'applied', reason: 'first day' }]);
  const kept = (await database.pool.query<{ all: string }>(`select (select string_agg(a::text, ' ') from operator_actions a) || (select string_agg(o::text, ' ') from operators o) || (select string_agg(s::text, ' ') from operator_sessions s) as all`)).rows[0]!.all;
  const session = (await again.context().cookies()).find(({ name }) => name === 'lb_session')!.value;
  for (const canary of [PASSWORD, 'canary wrong', link.split('/').at(-1)!, session]) for (const place of [kept, web.stdout(), web.stderr()]) expect(place).not.toContain(canary);
});

test('a role is changed through its card, and the person\'s open page becomes what they may now do', { timeout: 300_000 }, async () => {
  const operator = (await createOperator(database.pool, 'Rita Raised', 'viewer'))!;
  const redeemed = await redeemSigninLink(database.pool, await createSigninLink(database.pool, operator.id), 'test');
  const rita = await open('/settings', `lb_session=${redeemed.ok && redeemed.session}`);
  const admin = await open('/settings/people?q=Rita', (await signedIn(database, 'admin')).cookie);
  await admin.focus('[data-person-menu="Rita Raised"]');
  await admin.keyboard.press('Enter');
  await admin.locator('[role=menuitem]:has-text("Make operator")').waitFor();
  await until(() => admin.evaluate(() => document.activeElement?.textContent === 'Make operator'), { timeoutMs: PATIENCE_MS, what: 'the focus on the first entry' });
  await admin.keyboard.type('Make o');
  await admin.keyboard.press('Enter');
  await untilText(admin, '[data-judged]', /Possible now/);
  await admin.fill('[data-needs=reason]', 'on call now');
  await admin.keyboard.press('Control+Enter');
  await untilText(admin, '[data-outcome=applied]', /Rita Raised is now operator, was viewer/);
  await admin.click('[role=dialog] button:has-text("Close")');
  await untilText(admin, '[data-person="Rita Raised"]', /operator/);
  await rita.reload();
  await untilFeed(rita, 'live');
  expect(await rita.locator('.settings-tabs a').allTextContents()).toEqual(['Your account', 'Queue pauses', 'Webhook', 'Retention', 'Read-only']);
});

test('keys in a menu that come faster than its focus moves choose what they say', { timeout: 180_000 }, async () => {
  await createOperator(database.pool, 'Ada Ahead', 'viewer');
  const admin = await open('/settings/people?q=Ada', (await signedIn(database, 'admin')).cookie);
  for (const [keys, asked] of [[[...'Make o', 'Enter'], /^Make Ada Ahead operator\?$/], [['ArrowDown', 'Enter'], /^Make Ada Ahead admin\?$/], [['End', 'ArrowUp', 'ArrowDown', 'Enter'], /^Disable Ada Ahead\?$/]] as const) {
    await admin.focus('[data-person-menu="Ada Ahead"]');
    await admin.keyboard.press('Enter');
    await until(() => admin.evaluate(() => document.activeElement?.textContent === 'Make operator'), { timeoutMs: PATIENCE_MS, what: 'the focus on the first entry' });
    await admin.evaluate((burst) => {
      for (const key of burst) document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    }, keys);
    await untilText(admin, '[role=dialog] h2', asked);
    await until(() => admin.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'), { timeoutMs: PATIENCE_MS, what: 'the focus on the reason' });
    await admin.keyboard.press('Escape');
    await admin.locator('[role=dialog]').waitFor({ state: 'detached' });
  }
});

test('a token is made with what it may do and shown once; sessions are ended; and nothing of it is for others', { timeout: 300_000 }, async () => {
  browser.expectComplaint(/40[13]/);   // Chromium notes the status of what is refused
  await createApiToken(database.pool, 'old backend');
  const { cookie, operatorId } = await signedIn(database, 'admin');
  const admin = await open('/settings/tokens', cookie);
  await untilText(admin, '[data-token="old backend"]', /all of the API.*never/s);
  await admin.click('button:has-text("Make a token")');
  await admin.fill('[role=dialog] [name=name]', 'new backend');
  await admin.uncheck('[role=dialog] [value="api:write"]');
  await admin.fill('[role=dialog] [name=reason]', 'reports only');
  await admin.click('[role=dialog] button[type=submit]');
  const token = await untilText(admin, '[data-secret]', /^lb_[\w-]{43}$/);
  expect((await fetch(`${web.url}/api/parse-jobs/x`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
  expect((await fetch(`${web.url}/api/analysis-jobs`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status).toBe(403);
  await admin.click('[role=dialog] button:has-text("Close")');
  await untilText(admin, '[data-token="new backend"]', /api:read/);

  const other = await signedIn(database, 'operator');
  const victim = await open('/', other.cookie);
  await admin.goto(`${web.url}/settings/sign-ins`);
  await untilFeed(admin, 'live');
  await admin.locator('tr[data-session]', { hasText: 'operator' }).locator('button').first().click();
  await untilText(admin, '[data-judged]', /Possible now/);
  await admin.fill('[data-needs=reason]', 'lost laptop');
  await admin.click('[role=dialog] button[type=submit]');
  await untilText(admin, '[data-outcome=applied]', /Ended a session/);
  await victim.waitForURL(/\/signin/, { timeout: PATIENCE_MS });

  const { cookie: viewer } = await signedIn(database, 'viewer');
  for (const path of ['people', 'sign-ins', 'tokens', 'queues', 'webhook', 'retention', 'read-only']) {
    expect([path, (await fetch(`${web.url}/settings/${path}`, { headers: { cookie: viewer, accept: 'text/html' } })).status]).toEqual([path, 403]);
    const posted = await fetch(`${web.url}/settings/${path}`, { method: 'POST', body: new URLSearchParams({ name: 'x', role: 'admin', reason: 'r', scope: 'api:read' }), headers: { cookie: viewer, origin: web.url, accept: 'text/html' } });
    expect([path, posted.ok]).toEqual([path, false]);
  }
  expect((await database.pool.query(`select 1 from operators where name = 'x'`)).rowCount).toBe(0);
  expect((await database.pool.query('select 1 from operator_sessions where operator_id = $1 and revoked_at is null', [operatorId])).rowCount).toBe(1);
});

test('in a read-only console a banner says so, every button why, and the server refuses whatever is sent', { timeout: 300_000 }, async () => {
  const quiet = await fleet.web({ READ_ONLY: 'true' });
  const { cookie } = await signedIn(database, 'admin');
  const page = await browser.tab(`${quiet.url}/settings/people`, { cookie });
  await untilFeed(page, 'live');
  await untilText(page, '.banner', /read-only \(READ_ONLY\): every action is refused/);
  expect(await page.getAttribute('button:has-text("Add a person")', 'aria-disabled')).toBe('true');
  expect(await page.getAttribute('button:has-text("Add a person")', 'title')).toMatch(/read-only/);
  const send = (path: string, fields: Record<string, string>) => fetch(quiet.url + path, { method: 'POST', body: new URLSearchParams({ reason: 'r', ...fields }), headers: { cookie, origin: quiet.url, accept: 'text/html' } });
  expect(await (await send('/settings/people', { name: 'Read Only', role: 'admin' })).text()).toMatch(/This console is read-only|read_only|READ_ONLY/);
  expect((await send('/operations/pause_queue', { queue: 'parse-items' })).status).toBe(403);
  expect((await database.pool.query(`select 1 from operators where name = 'Read Only'`)).rowCount).toBe(0);
  expect((await database.pool.query('select 1 from queue_pauses')).rowCount).toBe(0);
  expect((await audit('create_account')).at(-1)).toMatchObject({ outcome: 'refused' });
  const token = await createApiToken(database.pool, 'unaffected');
  expect((await fetch(`${quiet.url}/api/parse-jobs/x`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
});

test('every settings page is sound for a screen reader, light and dark, wide and narrow', { timeout: 300_000 }, async () => {
  const axe = fs.readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
  const { cookie } = await signedIn(database, 'admin');
  for (const [theme, width] of [['light', 1440], ['dark', 390]] as const) {
    const page = await open('/settings/account', cookie, { theme, width });
    for (const path of ['account', 'people', 'sign-ins', 'tokens', 'queues', 'webhook', 'retention', 'read-only']) {
      await page.goto(`${web.url}/settings/${path}`);
      await untilFeed(page, 'live');
      await page.evaluate(axe);
      const found = await page.evaluate(() => (window as any).axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }).then((result: any) => result.violations.map((one: any) => `${one.id}: ${one.nodes[0].html}`)));
      expect([path, theme, found]).toEqual([path, theme, []]);
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)]).toEqual([path, true]);
    }
    await until(async () => (await page.locator('h1').count()) === 1);
  }
});
