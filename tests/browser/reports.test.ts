import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertAnalysis, insertCitation } from '../console/report-rows.js';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { mark, PATIENCE_MS, testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument, insertRow } from '../support/factories.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url, { SWEEP_SECONDS: '3600' });
  web = await fleet.web();
  // Between the insert of an analysis and those of its citations a sweep would find that it has none, and end it.
  await until(async () => (await database.pool.query('select 1 from sweeps where last_run_at is not null')).rowCount === 1, { what: 'the sweep of the start', timeoutMs: 60_000 });
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

/** An analysis whose citations wait for their checks. */
async function openReport(session_id: string, checks = 2): Promise<{ id: string; first: string; second: string }> {
  const thesis = await insertDocument(database.pool, { filename: `${session_id}.pdf` });
  await insertRow(database.pool, 'session_sources', { user_id: 'user-1', session_id, document_id: thesis.id, linked_by: 'parse_item' });
  const { id } = await insertAnalysis(database.pool, { session_id, thesis_document_id: thesis.id, open_children: checks, total_children: checks, claims_total: checks, marks_seen: checks, marks_resolved: checks });
  const citations: string[] = [];
  for (let ordinal = 0; ordinal < checks; ordinal++) citations.push((await insertCitation(database.pool, id, ordinal)).id);
  return { id, first: citations[0]!, second: citations[1]! };
}

/** A check ends as the engine writes it: the citation, its analysis, and the hint to consoles after the commit. */
async function endCheck(id: string, citationId: string): Promise<void> {
  await database.pool.query(`with ended as (update job_citations set state = 'succeeded', verdict = 'supported', lease_token = 1, finished_at = now(), version = version + 1 where id = $2)
    update analysis_jobs set open_children = open_children - 1, succeeded_children = succeeded_children + 1, version = version + 1 where id = $1`, [id, citationId]);
  await database.pool.query(`select pg_notify('leaseboard_rows', $1)`, [JSON.stringify({ t: 'analysis_jobs', ids: [id] })]);
}

test('a report opens from its list, follows its checks without a reload, and leads to its session', { timeout: 180_000 }, async () => {
  const { cookie } = await signedIn(database, 'operator');
  const { id, first } = await openReport('followed');
  const page = await browser.tab(`${web.url}/reports`, { cookie });
  await untilFeed(page, 'live');
  await page.click(`[data-row-id="${id}"] a:has-text("followed.pdf")`);
  await untilText(page, '[data-step=checked]', /0 of 2/);
  const same = await mark(page);
  await endCheck(id, first);
  await untilText(page, '[data-step=checked]', /1 of 2/);
  await untilText(page, '[data-verdict-chip=supported]', /supported1/);
  await untilText(page, '[data-ordinal="0"]', /supported.*masked/);
  expect(await same.isSame()).toBe(true);
  await page.click('.facts a:has-text("followed")');
  await untilText(page, 'h1', /^followed$/);
  expect(await page.textContent('[data-outlook=good]')).toBe('Nothing');
});

test('a report whose answers are slow waits for one before it asks for the next, though its checks go on meanwhile, and ends with the last of them', { timeout: 180_000 }, async () => {
  const { cookie } = await signedIn(database, 'operator');
  const { id, first, second } = await openReport('slow-answers', 3);
  const page = await browser.tab(`${web.url}/reports/${id}`, { cookie });
  await untilFeed(page, 'live');
  let asked = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => { release = resolve; });
  await page.route(/\.data(\?|$)/, async (route) => {
    asked += 1;
    await released;
    await route.continue().catch(() => undefined);   // the page may be closed
  });
  await endCheck(id, first);
  await until(() => asked === 1, { timeoutMs: PATIENCE_MS, what: 'the first reading' });
  await endCheck(id, second);
  const from = await page.evaluate(() => performance.now());
  await until(() => page.evaluate((since) => performance.now() > since + 5_000, from), { timeoutMs: PATIENCE_MS, what: 'more than twice the time that two readings are apart' });
  expect(asked).toBe(1);
  release();
  await untilText(page, '[data-verdict-chip=supported]', /supported2/);
});

test('a viewer follows the same report and no text of it reaches the browser', { timeout: 180_000 }, async () => {
  const { cookie } = await signedIn(database, 'viewer');
  const { id, first } = await openReport('masked');
  const address = `${web.url}/reports/${id}`;
  const page = await browser.tab(address, { cookie });
  await untilFeed(page, 'live');
  await untilText(page, '[data-ordinal="0"]', /to be checked.*masked.*page 3/);
  await endCheck(id, first);
  await untilText(page, '[data-ordinal="0"]', /supported.*masked.*page 3/);
  for (const asked of [address, `${address}.data`]) {
    const sent = await (await fetch(asked, { headers: { cookie } })).text();
    expect(sent).toMatch(/masked\.pdf/);
    expect(sent).not.toMatch(/secret/i);
  }
  expect(await page.content()).not.toMatch(/secret/i);
  expect(await page.textContent('main')).toMatch(/Text is masked for your role/);
});

test('an operator says why, sees the text for a while, and finds it masked again when the time is over', { timeout: 180_000 }, async () => {
  const { cookie } = await signedIn(database, 'operator');
  const { id } = await openReport('revealed');
  const page = await browser.tab(`${web.url}/reports/${id}`, { cookie });
  await untilFeed(page, 'live');
  await untilText(page, '[data-ordinal="0"]', /masked/);
  await page.click('[data-action=reveal]');
  await page.fill('[data-needs=reason]', 'the customer disputes a verdict');
  await page.click('[role=dialog] button[type=submit]');
  await untilText(page, '[role=dialog]', /Revealed the text of 2 citations/);
  await page.click('[role=dialog] button:has-text("Close")');
  await untilText(page, '[data-ordinal="0"]', /a secret claim/);
  const { rows } = await database.pool.query(`select outcome, reason from operator_actions where row_id = $1`, [id]);
  expect(rows).toEqual([{ outcome: 'applied', reason: 'the customer disputes a verdict' }]);
  await database.pool.query(`update operator_actions set at = at - interval '16 minutes' where row_id = $1`, [id]);
  await page.reload();
  await untilText(page, '[data-ordinal="0"]', /masked/);
  expect(await page.content()).not.toContain('a secret claim');
});
