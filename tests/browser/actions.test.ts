import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { itemFrom, staleItem } from '../console/rows.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { heldScript, PATIENCE_MS, testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseJob, insertWorker, sql } from '../support/factories.js';
import { faultsOf } from '../support/faults.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
const cookies = {} as Record<'viewer' | 'operator' | 'admin', string>;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  for (const [id, label, version] of [['w-b', 'worker-b', 'v42'], ['w-c', 'worker-c', 'v43']]) await insertWorker(database.pool, { id, label, version, heartbeat_seconds: 3600 });
  fleet = await startFleet(database.url, { SWEEP_SECONDS: '3600', LEASE_SECONDS: '120', HEARTBEAT_SECONDS: '30' });   // what is stale stays so
  web = await fleet.web();
  for (const role of ['viewer', 'operator', 'admin'] as const) cookies[role] = (await signedIn(database, role)).cookie;
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

async function open(path: string, role: keyof typeof cookies = 'operator', width = 1440): Promise<Page> {
  const page = await browser.tab(`${web.url}${path}`, { cookie: cookies[role], width });
  await untilFeed(page, 'live');
  return page;
}

/** A running file whose lease #7 of worker-b has run out. */
const stale = (values = {}) => staleItem(database.pool, 42, { worker_id: 'w-b', lease_token: 7, ...values });
const pathOf = (id: string) => `/queues/parse-items/${id}`;
const SUBMIT = '[role=dialog] button[type=submit]';
const REASON = '[role=dialog] textarea';

async function openCard(page: Page, action = 'release'): Promise<void> {
  await page.click(`[data-row-action=${action}] button`);
  await page.locator('[data-judged=possible]').waitFor({ state: 'attached' });
}

const untilOnReason = (page: Page) => until(() => page.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'), { timeoutMs: PATIENCE_MS, what: 'the focus on the reason' });
const untilJudged = (page: Page, code: string) => page.locator(`[data-judged=${code}]`).waitFor({ state: 'attached' });
const rowOf = async (id: string) => (await database.pool.query<{ state: string; worker_id: string | null; lease_token: string }>('select state, worker_id, lease_token from parse_items where id = $1', [id])).rows[0];
const auditOf = async (id: string) => (await database.pool.query<{ action: string; outcome: string; refusal: string | null; reason: string | null }>('select action, outcome, refusal, reason from operator_actions where row_id = $1 order by id', [id])).rows;
const change = (id: string, set: string) => database.pool.query(`update parse_items set ${set}, version = version + 1 where id = $1`, [id]);

test('while a card is open it tells each truth as the row changes, and what was typed stays', { timeout: 240_000 }, async () => {
  const { id } = await stale({ lease_expires_at: sql(`now() - interval '1 second'`) });
  const page = await open(pathOf(id));
  expect(await page.textContent('[data-row-action=release]')).toMatch(/lease ended \d+ s ago, last beat/);
  await openCard(page);
  await untilOnReason(page);
  await page.keyboard.type('The customer waits');

  await change(id, `heartbeat_at = now(), lease_expires_at = now() + interval '1 hour'`);
  await untilJudged(page, 'lease_valid');
  expect(await page.textContent('[data-judged]')).toMatch(/valid for another (1 h|59 m).*worker-b \(v42\) last beat/);
  expect(await page.getAttribute(SUBMIT, 'aria-disabled')).toBe('true');
  await page.click(SUBMIT, { force: true });

  await change(id, `lease_expires_at = now() - interval '1 second'`);
  await untilJudged(page, 'possible');

  await change(id, `lease_token = 8, worker_id = 'w-c', claimed_at = now(), heartbeat_at = now(), lease_expires_at = now() + interval '1 hour'`);
  await untilJudged(page, 'reclaimed');
  expect(await page.textContent('[data-judged]')).toMatch(/worker-c \(v43\) has taken it since you looked/);
  expect(await page.textContent('.action-facts')).toMatch(/#8 · you looked at #7/);
  await page.click('text=Judge the lease #8 instead');
  await untilJudged(page, 'lease_valid');

  await change(id, `lease_expires_at = now() - interval '1 second'`);
  await untilJudged(page, 'possible');
  expect(await page.inputValue(REASON)).toBe('The customer waits');
  expect(await auditOf(id)).toEqual([]);   // nothing was pressed that could be
  await page.click(SUBMIT);
  await page.locator('[data-outcome=applied]').waitFor();
  expect(await page.textContent('[data-outcome=applied]')).toMatch(/Released the stale lease #8 of worker-c \(v43\)/);
  expect(await rowOf(id)).toMatchObject({ state: 'queued', worker_id: null });
  expect(await auditOf(id)).toEqual([{ action: 'release', outcome: 'applied', refusal: null, reason: 'The customer waits' }]);
  await page.keyboard.press('Escape');   // nothing is asked: it is done
  await page.locator('[role=dialog]').waitFor({ state: 'detached' });
  await untilText(page, '.timeline', /released the stale lease: “The customer waits”/);
});

test('a double-click acts once', { timeout: 120_000 }, async () => {
  const { id } = await stale();
  const page = await open(pathOf(id));
  await openCard(page);
  await page.fill(REASON, 'Twice, quickly');
  await page.dblclick(SUBMIT, { delay: 0 }).catch(() => undefined);   // the second half may meet a card that has answered
  await page.locator('[data-outcome=applied]').waitFor();
  expect(await auditOf(id)).toHaveLength(1);
  expect(await rowOf(id)).toMatchObject({ state: 'queued' });
});

test('when the answer is lost the card says that it is not known, and a second press is the same attempt', { timeout: 120_000 }, async () => {
  browser.expectComplaint(/ERR_FAILED/);
  const { id } = await stale();
  const page = await open(pathOf(id));
  await page.route('**/operations/release', async (route) => {
    await route.fetch();   // the server does it, and nobody hears
    await route.abort();
  }, { times: 1 });
  await openCard(page);
  await page.fill(REASON, 'A bad line');
  await page.click(SUBMIT);
  await page.locator('[data-outcome=unknown]').waitFor();
  expect(await page.textContent('[data-outcome=unknown]')).toMatch(/not known whether this took effect. Press again/);
  expect(await rowOf(id)).toMatchObject({ state: 'queued' });
  await untilJudged(page, 'already_released');
  expect(await page.textContent('[data-judged]')).toMatch(/may be your own press: press again/);
  expect(await page.textContent('[data-judged]')).not.toMatch(/Nothing was changed/);   // nobody knows that
  await page.keyboard.press('Escape');
  expect(await page.textContent('[role=dialog]')).toMatch(/Not known whether it took effect; the audit will tell/);
  await page.keyboard.press('Enter');   // go on
  await page.click(SUBMIT);
  await page.locator('[data-outcome=applied]').waitFor();
  expect(await auditOf(id)).toEqual([{ action: 'release', outcome: 'applied', refusal: null, reason: 'A bad line' }]);
});

test('a press that was turned away unseen did nothing and says so; one whose answer is lost stays in doubt whatever is looked at next', { timeout: 120_000 }, async () => {
  browser.expectComplaint(/ERR_FAILED|401/);
  const { id } = await stale();
  const page = await open(pathOf(id));
  await page.route('**/operations/release', (route) => route.fulfill({ status: 401 }), { times: 1 });
  await openCard(page);
  await page.fill(REASON, 'Signed out');
  await page.click(SUBMIT);
  expect(await page.locator('[data-outcome=not_done]').textContent()).toMatch(/Not done\..*session has ended/);
  await page.keyboard.press('Escape');
  expect(await page.textContent('[role=dialog]')).toMatch(/Nothing was done yet/);
  await page.keyboard.press('Enter');   // go on

  await page.route('**/operations/release', async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await page.click(SUBMIT);
  await page.locator('[data-outcome=unknown]').waitFor();
  await change(id, `state = 'running', worker_id = 'w-b', lease_token = 8, claimed_at = now(), heartbeat_at = now(), lease_expires_at = now() + interval '1 hour'`);
  await page.click('text=Judge the lease #8 instead');
  await untilJudged(page, 'lease_valid');
  await page.keyboard.press('Escape');
  expect(await page.textContent('[role=dialog]')).toMatch(/Not known whether it took effect/);
});

test('a row is released from its list by the keyboard alone, and the focus comes back', { timeout: 120_000 }, async () => {
  const { id } = await stale({ user_id: 'by-keys' });
  const page = await open('/queues/parse-items?user=by-keys');
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.locator('[role=menu]').waitFor();
  expect(await page.textContent('[role=menu] [data-action=rekick]')).toMatch(/worker-b \(v42\) is on it/);
  await until(() => page.evaluate(() => document.activeElement?.getAttribute('data-action') === 'release'), { timeoutMs: PATIENCE_MS, what: 'the focus on the first action' });
  await page.keyboard.press('Enter');
  await untilJudged(page, 'possible');
  await untilOnReason(page);
  await page.keyboard.type('No mouse');
  await page.keyboard.press('Escape');
  expect(await page.textContent('[role=dialog]')).toMatch(/Drop what you typed\?/);
  await page.keyboard.press('Enter');   // go on
  expect(await page.inputValue(REASON)).toBe('No mouse');
  await page.focus(REASON);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('[data-outcome=applied]').waitFor();
  await page.keyboard.press('Enter');   // close
  await page.locator('[role=dialog]').waitFor({ state: 'detached' });
  await until(() => page.evaluate((row) => document.activeElement?.closest('tr')?.getAttribute('data-row-id') === row, id), { timeoutMs: PATIENCE_MS, what: 'the focus back on the row' });
  expect(await rowOf(id)).toMatchObject({ state: 'queued' });
});

test.each([
  ['one row', ['j', 'a'], 'action-row-menu', 'data-action'],
  ['the rows selected', ['j', 'x', 'a'], 'action-bulk-menu', 'data-bulk-action'],
] as const)('the menu of %s, asked for by key before it is there, takes the focus when it comes, and no key goes elsewhere meanwhile', { timeout: 120_000 }, async (_, keys, script, marked) => {
  const { id } = await stale({ user_id: script });
  const late = heldScript(script);
  const page = await browser.tab(`${web.url}/queues/parse-items?user=${script}`, { cookie: cookies.operator, before: late.hold });
  await untilFeed(page, 'live');
  for (const key of keys) await page.keyboard.press(key);
  await page.keyboard.press('Enter');
  await page.keyboard.press('x');
  late.release();
  const first = page.locator('[role=menu] [role=menuitem]').first();
  await first.waitFor();
  const wanted = await first.getAttribute(marked);
  await until(() => page.evaluate((name) => document.activeElement?.getAttribute(name) ?? null, marked).then((at) => at !== null && at === wanted), { timeoutMs: PATIENCE_MS, what: 'the focus on the first action' });
  expect(page.url()).toContain('?user=');
  expect(await page.locator(`[data-row-id="${id}"][data-selected=true]`).count()).toBe(keys.length - 2);
  await page.keyboard.press('Escape');
  await page.locator('[role=menu]').waitFor({ state: 'detached' });
});

test('a role that may not sees every action with the reason, and an admin takes a live lease only after typing what the card asks for', { timeout: 180_000 }, async () => {
  const { id } = await itemFrom(database.pool, 60, { state: 'running', worker_id: 'w-b', lease_token: 3, lease_expires_at: new Date('2100-01-01') });
  for (const [role, action, reason] of [['viewer', 'release', /Needs the role operator; yours is viewer/], ['viewer', 'cancel', /Needs the role operator/], ['operator', 'force_release', /Needs the role admin; yours is operator/]] as const) {
    const page = await open(pathOf(id), role);
    const button = page.locator(`[data-row-action=${action}] button`);
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await page.textContent(`[id="${await button.getAttribute('aria-describedby')}"]`)).toMatch(reason);
    await button.click({ force: true });
    expect(await page.locator('[role=dialog]').count()).toBe(0);
    await page.close();
  }
  const page = await open(pathOf(id), 'admin');
  await openCard(page, 'force_release');
  await page.fill(REASON, 'The worker hangs');
  await page.click(SUBMIT, { force: true });
  expect(await page.textContent('.action-why')).toBe(`Type ${id.slice(-8)} to confirm.`);
  expect(await page.evaluate(() => document.activeElement?.getAttribute('data-needs'))).toBe('confirmation');
  await page.keyboard.type(id.slice(-8));
  await page.keyboard.press('Enter');
  await page.locator('[data-outcome=applied]').waitFor();
  expect(await rowOf(id)).toMatchObject({ state: 'queued', worker_id: null });
});

test('a page that has not been read for 15 s acts on nothing and says why, and does again once it has caught up', { timeout: 180_000 }, async () => {
  const { id } = await stale();
  const page = await open(pathOf(id));
  await openCard(page);
  await page.fill(REASON, 'Before the cut');
  onTestFinished(() => void process.kill(web.pid, 'SIGCONT'));
  process.kill(web.pid, 'SIGSTOP');   // connections stand, and nothing comes
  await untilText(page, '[role=dialog] .action-why', /^Nothing could be read for \d+ s, so this page may be wrong/);
  await page.click(SUBMIT, { force: true });
  expect(await page.getAttribute('[data-row-action=release] button', 'aria-disabled')).toBe('true');
  expect(await auditOf(id)).toEqual([]);
  process.kill(web.pid, 'SIGCONT');
  await until(async () => await page.getAttribute(SUBMIT, 'aria-disabled') === null, { timeoutMs: PATIENCE_MS, what: 'a card that may be pressed again' });
  expect(await page.inputValue(REASON)).toBe('Before the cut');
  await page.click(SUBMIT);
  await page.locator('[data-outcome=applied]').waitFor();
});

/** 20 files of one user whose leases have run out, and three whose have not. */
async function many(user_id: string): Promise<string[]> {
  const { id: job_id } = await insertParseJob(database.pool, { total_children: 23, open_children: 23 });
  const rows = [];
  for (let n = 0; n < 20; n++) rows.push(await stale({ user_id, job_id, filename: `${n}.pdf` }));
  for (let n = 0; n < 3; n++) await itemFrom(database.pool, 60, { user_id, job_id, state: 'running', worker_id: 'w-c', lease_token: 1, lease_expires_at: new Date('2100-01-01') });
  return rows.map((row) => row.id);
}

async function openBulk(page: Page, user: string): Promise<void> {
  await page.check('thead input[type=checkbox]');
  await page.keyboard.press('a');
  await page.click('[data-bulk-action=release]:not([data-all])');
  await page.locator('[data-possible="20"]').waitFor();
  expect(await page.textContent('[data-possible]')).toMatch(/20 of 23 now.*3 rows are left out: lease valid/);
  await page.fill(REASON, `All of ${user}`);
}

test('many rows are released for one reason, one that was renewed meanwhile is refused, and each is told of', { timeout: 180_000 }, async () => {
  const ids = await many('bulk-1');
  const page = await open('/queues/parse-items?user=bulk-1');
  let read: string | undefined;
  await page.route('**/operations/bulk?*', async (route) => {
    read ??= await (await route.fetch()).text();
    await route.fulfill({ body: read, contentType: 'application/json' });   // as it was when the card was opened
  });
  await openBulk(page, 'bulk-1');
  await change(ids[4]!, `heartbeat_at = now(), lease_expires_at = now() + interval '1 hour'`);
  await page.click(SUBMIT);
  await page.locator('[data-bulk=ended]').waitFor();
  expect(await page.textContent('[data-bulk=ended] [role=status]')).toBe('Done. 19 released, 1 refused: lease valid.');
  expect(await page.locator('.bulk-outcomes li').count()).toBe(20);
  expect(await page.textContent('.bulk-outcomes li:first-child')).toMatch(/4\.pdf .*valid for another/);
  const { rows } = await database.pool.query<{ bulks: number; applied: number; refused: number; reasons: number }>(`select count(distinct bulk_id)::int as bulks, count(*) filter (where outcome = 'applied')::int as applied,
    count(*) filter (where outcome = 'refused')::int as refused, count(distinct reason)::int as reasons from operator_actions where row_id = any ($1)`, [ids]);
  expect(rows).toEqual([{ bulks: 1, applied: 19, refused: 1, reasons: 1 }]);
});

test('a bulk action stops between two pages, warns whoever closes the tab, and goes on in the background with the rest', { timeout: 180_000 }, async () => {
  const ids = await many('bulk-2');
  const page = await open('/queues/parse-items?user=bulk-2');
  let letGo = () => {};
  const held = new Promise<void>((resolve) => { letGo = resolve; });
  let pages = 0;
  await page.route('**/operations/bulk', async (route) => {
    pages += 1;
    if (pages !== 2) await held;
    await route.continue();
  });
  await openBulk(page, 'bulk-2');
  await page.click(SUBMIT);
  await page.locator('[data-bulk=running]').waitFor();
  expect(await page.evaluate(() => window.dispatchEvent(new Event('beforeunload', { cancelable: true })))).toBe(false);   // the browser would ask
  await page.click('text=Stop after these');
  letGo();
  await page.locator('[data-bulk=stopped]').waitFor();
  expect(await page.textContent('[data-bulk=stopped] [role=status]')).toBe('Stopped. 10 released, 10 not tried.');
  expect((await database.pool.query(`select count(*)::int as n from parse_items where id = any ($1) and state = 'queued'`, [ids])).rows).toEqual([{ n: 10 }]);
  await until(() => page.evaluate(() => window.dispatchEvent(new Event('beforeunload', { cancelable: true }))), { timeoutMs: PATIENCE_MS, what: 'a tab that closes without a question' });
  await page.click('text=Go on with the other 10');
  await page.locator('[data-bulk=ended]').waitFor();
  expect(await page.textContent('[data-bulk=ended] [role=status]')).toBe('Done. 20 released.');
  expect(pages).toBe(2);
});

test('a bulk action that was put aside tells when it has ended', { timeout: 180_000 }, async () => {
  await many('bulk-3');
  const page = await open('/queues/parse-items?user=bulk-3');
  let letGo = () => {};
  const held = new Promise<void>((resolve) => { letGo = resolve; });
  await page.route('**/operations/bulk', async (route) => {
    await held;
    await route.continue();
  });
  await openBulk(page, 'bulk-3');
  await page.click(SUBMIT);
  await page.click('text=Go on in the background');
  await page.locator('[role=dialog]').waitFor({ state: 'detached' });
  expect(await page.textContent('.bulk-aside')).toMatch(/Release lease: 0 of 20/);
  await page.click('a:has-text("Workers")');   // the console goes on
  letGo();
  await untilText(page, '[data-sonner-toast]', /20 released/);
  await page.click('[data-sonner-toast] button:has-text("Show")');
  await page.locator('[data-bulk=ended]').waitFor();
});

test('cards, bulk and audit can be used by everyone, light and dark, wide and narrow', { timeout: 400_000 }, async () => {
  await many('looks');
  const page = await open('/queues/parse-items?user=looks', 'admin');
  await openBulk(page, 'looks');
  expect({ bulk: await faultsOf(page, '[role=dialog]') }).toEqual({ bulk: [] });
  await page.click(SUBMIT);
  await page.locator('[data-bulk=ended]').waitFor();
  expect({ outcomes: await faultsOf(page, '[role=dialog]') }).toEqual({ outcomes: [] });
  await page.close();
  const { id } = await stale();
  const card = await open(pathOf(id), 'admin');
  expect({ row: await faultsOf(card) }).toEqual({ row: [] });
  await card.setViewportSize({ width: 1440, height: 900 });
  await openCard(card, 'force_release');
  expect({ card: await faultsOf(card, '[role=dialog]') }).toEqual({ card: [] });
  await card.close();
  const audit = await open('/audit', 'viewer');
  await audit.click('.audit-diff summary >> nth=0');
  expect({ audit: await faultsOf(audit) }).toEqual({ audit: [] });
});

test('the audit tells a viewer who did what and why, narrows by its address, and shows what comes meanwhile', { timeout: 120_000 }, async () => {
  const { id } = await stale();
  const page = await open(`/audit?target=${id}`, 'viewer');
  expect(await page.textContent('main')).toMatch(/Nothing matches/);
  const actor = await open(pathOf(id));
  await openCard(actor);
  await actor.fill(REASON, '<script>window.hacked=1</script> on the phone');
  await actor.click(SUBMIT);
  await actor.locator('[data-outcome=applied]').waitFor();
  await untilText(page, '[data-entry]', /applied.*Release lease.*parse item.*“<script>window\.hacked=1<\/script> on the phone”.*Released the stale lease #7/s);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  await page.click('.audit-diff summary');
  expect(await page.textContent('.audit-diff dl')).toMatch(/State.*running → queued/);
  await page.click('[data-chip=refused]');
  await until(() => new URL(page.url()).searchParams.get('outcome') === 'refused', { timeoutMs: PATIENCE_MS, what: 'the address of the refused' });
  await untilText(page, 'main', /Nothing matches/);
  await page.goBack();
  await page.click('[data-entry] .row-link');
  await until(() => new URL(page.url()).pathname === pathOf(id), { timeoutMs: PATIENCE_MS });
});
