/**
 * A redeploy of real workers, watched in a real browser. One old worker is killed, the other told to stop, both in the middle of their work.
 * What the board says is compared with the log of transitions: the counts of each second with what had happened by that second.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireBuiltConsole } from '../http/built-console.js';
import { signedIn } from '../http/web-under-test.js';
import { startBackend, type Backend } from '../lifecycle/backend.js';
import { killAtOnce, shortLimits, startFleet, type Fleet, type WebRun, type WorkerRun } from '../lifecycle/fleet.js';
import { isGone, parsersOf, someParserOf } from '../lifecycle/parsers-of.js';
import { expectAllDoneOnce } from '../lifecycle/rows.js';
import { slowPdf } from '../lifecycle/slow-pdfs.js';
import { mark, testBrowser, untilFeed, untilText } from '../support/browser.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, insertWorker } from '../support/factories.js';
import { until } from '../support/until.js';

const browser = testBrowser();
let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let backend: Backend;
let cookie: string;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  fleet = await startFleet(database.url, { WORKER_CONCURRENCY: '3', DRAIN_SECONDS: '30' });
  web = await fleet.web();
  backend = await startBackend(database.pool);
  ({ cookie } = await signedIn(database));
}, 300_000);
afterAll(() => fleet?.end(), 60_000);

const COUNTS = ['old-holds', 'new-holds', 'in-flight', 'finished', 'given-back', 'expired', 'lost'] as const;
const OLD_HOLDS = '[data-drain-board] [data-board-count="old-holds"] dd';
type Counts = Record<(typeof COUNTS)[number], number>;
interface Sample extends Counts { asOf: number }

/** Every state of the board that the page has shown, from now on. */
async function recordBoard(page: Page): Promise<() => Promise<Sample[]>> {
  await page.evaluate((names) => {
    const seen: unknown[] = [];
    Object.assign(window, { boardSeen: seen });
    let last = '';
    setInterval(() => {
      const board = document.querySelector('[data-drain-board]');
      if (!board) return;
      const of = (name: string) => Number(board.querySelector(`[data-board-count="${name}"] dd`)?.textContent);
      const sample = { asOf: Number(board.getAttribute('data-as-of')), ...Object.fromEntries(names.map((name) => [name, of(name)])) };
      if (JSON.stringify(sample) !== last) seen.push(sample);
      last = JSON.stringify(sample);
    }, 100);
  }, COUNTS);
  return () => page.evaluate(() => (window as unknown as { boardSeen: Sample[] }).boardSeen);
}

interface Happened { id: number; row: string; cause: string; worker: string | null; token: string | null; at: number; failed: string | null }

async function everything(): Promise<Happened[]> {
  const { rows } = await database.pool.query<Happened>(`
    select id::float8 as id, row_id as row, cause, worker_id as worker, lease_token::text as token, extract(epoch from at)::float8 * 1000 as at,
           case when to_state = 'failed' then error_code end as failed from queue_events order by id`);
  return rows;
}

interface Process { id: string; version: string; drain: number | null }

/** What the board had to say at an instant, from the log alone. `old`, `fresh`: the processes of either version. */
function countAt(at: number, log: readonly Happened[], old: readonly Process[], fresh: readonly Process[], gone: number): Counts {
  const past = log.filter((event) => event.at <= at);
  const endOf = (taken: Happened) => past.find((event) => event.row === taken.row && event.token === taken.token && event.id > taken.id && event.cause !== 'late_write');
  const counts: Counts = { 'old-holds': 0, 'new-holds': 0, 'in-flight': 0, finished: 0, 'given-back': 0, expired: 0, lost: 0 };
  for (const taken of past.filter(({ cause }) => cause === 'acquire')) {
    const end = endOf(taken);
    if (fresh.some(({ id }) => id === taken.worker) && !end) counts['new-holds'] += 1;
    const holder = old.find(({ id }) => id === taken.worker);
    if (!holder) continue;
    if (!end) counts['old-holds'] += 1;
    const drains = holder.drain !== null && holder.drain <= at;
    const outcome = !end ? (drains || (holder.drain === null && gone <= at) ? 'held' : null) : ['drain', 'unstarted'].includes(end.cause) ? 'given-back' : end.cause === 'sweep' ? 'expired' : drains && end.at >= holder.drain! ? 'finished' : null;
    if (outcome !== null) counts['in-flight'] += 1;
    if (outcome === 'given-back' || outcome === 'expired' || outcome === 'finished') counts[outcome] += 1;
    if (past.some((event) => event.row === taken.row && event.failed === 'worker_lost')) counts.lost += 1;
  }
  return counts;
}

/** An event is stamped before its commit, and a page's clock is read before its snapshot: the board must equal the log at some instant this near (ms). */
const COMMIT_MS = 750;

function agrees(sample: Sample, log: readonly Happened[], old: Process[], fresh: Process[], gone: [number, number]): boolean {
  const moments = [...log.map(({ at }) => at), ...old.flatMap(({ drain }) => drain ?? []), ...gone].filter((at) => Math.abs(at - sample.asOf) <= COMMIT_MS);
  return [sample.asOf - COMMIT_MS, ...moments].some((at) => {
    const { asOf: _, ...said } = sample;
    // When a killed process begins to count as dead is for its beats to say: anywhere between its last one and the sweep's word.
    return gone.some((dead) => JSON.stringify(countAt(at, log, old, fresh, dead)) === JSON.stringify(said));
  });
}

async function holding(worker: WorkerRun, n: number): Promise<void> {
  await until(async () => (await database.pool.query('select 1 from parse_items where worker_id = $1', [worker.id])).rowCount! >= n, { timeoutMs: 60_000, what: `${n} leases of ${worker.id}` });
}

test('the board follows a rolling redeploy second by second without a reload, and the page about it says what the log says', { timeout: 300_000 }, async () => {
  const stopped = await fleet.worker({ APP_VERSION: 'v1', WORKER_ID: 'worker-a' });
  const killed = await fleet.worker({ APP_VERSION: 'v1', WORKER_ID: 'worker-b' });
  const { jobId } = await backend.uploads(Array.from({ length: 9 }, (_, at) => ({ name: `${at}.pdf`, bytes: slowPdf(3) })), web.url);
  await Promise.all([holding(stopped, 2), holding(killed, 2)]);
  // Three files, two of one worker and one of the other, are in mid-parse for as long as their parsers stand still.
  const [held, finished] = await until(() => parsersOf(stopped.pid).length >= 2 && parsersOf(stopped.pid), { timeoutMs: 30_000, what: 'two parsers' });
  const orphan = await someParserOf(killed.pid);
  const parsers = [held!, finished!, orphan];
  for (const parser of parsers) process.kill(parser, 'SIGSTOP');

  const page = await browser.tab(`${web.url}/`, { cookie });
  await untilFeed(page, 'live');
  expect(await page.locator('[data-drain-board]').count()).toBe(0);
  const same = await mark(page);
  const boardSeen = await recordBoard(page);
  await fleet.worker({ APP_VERSION: 'v2', WORKER_ID: 'worker-c' });
  await untilText(page, '[data-drain-board] h2', /Redeploy of worker v1 → v2/);
  expect(await page.locator('[data-drain-board] [data-lifeline]').count()).toBe(3);

  await killAtOnce(killed);
  process.kill(orphan, 'SIGCONT'); // it ends by itself once it runs
  await untilText(page, OLD_HOLDS, /^2$/); // all other files are done
  stopped.kill('SIGTERM');
  await until(async () => (await database.pool.query('select 1 from workers where id = $1 and draining_since is not null', [stopped.id])).rowCount === 1, { what: 'a worker that drains' });
  process.kill(finished!, 'SIGCONT');
  await untilText(page, OLD_HOLDS, /^1$/); // while it drains: the other file is given back at the end of that
  await untilText(page, '[data-drain-board]', /1 drains/);
  await untilText(page, 'h1', /Redeploy rolling/);
  await stopped.ended;
  await backend.outcome(jobId, web.url);
  await until(async () => (await database.pool.query('select 1 from redeploys where ended_at is not null')).rowCount === 1, { timeoutMs: 60_000, what: 'the end of the redeploy' });
  await until(async () => await page.locator('[data-drain-board]').count() === 0, { timeoutMs: 60_000, what: 'a page without a board' });

  const samples = await boardSeen();
  const log = await everything();
  const { rows: processes } = await database.pool.query<Process & { beat: number; gone: number | null }>(`
    select id, version, extract(epoch from draining_since)::float8 * 1000 as drain, extract(epoch from heartbeat_at)::float8 * 1000 as beat, extract(epoch from gone_at)::float8 * 1000 as gone from workers where role = 'worker'`);
  const of = (version: string): Process[] => processes.filter((process) => process.version === version);
  const [old, fresh] = [of('v1'), of('v2')];
  const dead = processes.find(({ id }) => id === killed.id)!;
  const wrong = samples.filter((sample) => !agrees(sample, log, old, fresh, [dead.beat, dead.gone!]));
  expect(wrong.map((sample) => [sample, countAt(sample.asOf, log, old, fresh, dead.gone!)])).toEqual([]);
  expect(new Set(samples.map(({ asOf }) => asOf)).size).toBeGreaterThanOrEqual(5);
  expect(new Set(samples.map((sample) => sample['old-holds'])).size).toBeGreaterThanOrEqual(3); // it was watched while it changed

  await page.click('nav a[href="/redeploys"]');
  await page.click('[data-redeploy] a');
  await untilText(page, 'h1', /v1 → v2/);
  const verdict = (await page.locator('[data-redeploy-verdict]').evaluate((element) => ({ ...(element as HTMLElement).dataset }))) as Record<string, string>;
  const { 'in-flight': inFlight, finished: drained, 'given-back': givenBack, expired } = countAt(Infinity, log, old, fresh, dead.beat);
  expect(verdict).toMatchObject({
    inFlight: String(inFlight), finished: String(drained), givenBack: String(givenBack), expired: String(expired), held: '0', lost: '0', late: String(log.filter(({ cause }) => cause === 'late_write').length),
  });
  expect([drained, givenBack, expired].every((n) => n > 0)).toBe(true);
  expect(await page.locator('[data-process][data-leaving=clean]').count()).toBe(1);
  expect(await page.locator('[data-process][data-leaving=killed]').count()).toBe(1);
  expect(await page.locator('[data-fate]').count()).toBe(inFlight);
  expect(await same.isSame()).toBe(true);
  await until(() => parsers.every(isGone), { what: 'the end of the parsers' });
  await expectAllDoneOnce(database.pool, [jobId], database.config(shortLimits));
});

test('a row that no live worker knows says so in the list, on its page and on Now, until one does', { timeout: 180_000 }, async () => {
  await fleet.worker({ WORKER_ID: 'worker-old' });
  const { id } = await insertParseItem(database.pool, { schema_version: 2, filename: 'new.pdf' });
  const list = await browser.tab(`${web.url}/queues/parse-items?state=queued`, { cookie });
  await untilText(list, `[data-row-id="${id}"] [data-newer]`, /^waits for a newer worker$/);
  const row = await browser.tab(`${web.url}/queues/parse-items/${id}`, { cookie });
  await untilText(row, '.row-state [data-newer]', /newer worker/);
  await untilText(row, '.next-step', /none knows kind “pdf” at schema version 2/);
  const now = await browser.tab(`${web.url}/`, { cookie });
  await untilText(now, '[data-attention=newer]', /1 parse item waits for a newer worker.*schema version 2 · live workers know it up to version 1/);
  await untilFeed(now, 'live');
  const same = await mark(now);
  await insertWorker(database.pool, { label: 'newer', heartbeat_seconds: 600, kinds: { parse_items: { pdf: 2 } } });
  await until(async () => await now.locator('[data-attention=newer]').count() === 0, { timeoutMs: 60_000, what: 'a page that no longer says so' });
  await until(async () => await list.locator('[data-newer]').count() === 0, { timeoutMs: 60_000, what: 'a list that no longer says so' });
  expect(await same.isSame()).toBe(true);
});
