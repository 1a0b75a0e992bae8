import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperator, createSigninLink } from '../../server/operations/accounts.js';
import { englishText, textPdf } from '../fixtures/pdfs.js';
import { startFleet, type Fleet, type WebRun } from '../lifecycle/fleet.js';
import { upload } from '../api/uploads.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';
import { hangs, modelStub, type ModelStub } from '../support/model-stub.js';
import { until } from '../support/until.js';
import { requireBuiltConsole } from './built-console.js';
import { apiToken } from './web-under-test.js';

/** Each is a secret of its own; none may be found in what the processes write, show or store for showing. */
const PASSWORD = 'canary-0f3a-database-password';
const LLM_KEY = 'canary-77c1-model-key';
const STRAY_TOKEN = `lb_${'strayCanary'.repeat(4)}`;

let database: TestDatabase;
let fleet: Fleet;
let web: WebRun;
let outputs: (() => string)[];
let service: ModelStub;
let token: string;

beforeAll(async () => {
  await requireBuiltConsole();
  database = await testDatabase();
  await onServer((client) => client.query(`do $$ begin create role canary login superuser password '${PASSWORD}'; exception when duplicate_object then alter role canary password '${PASSWORD}'; end $$`));
  service = await modelStub(hangs);
  token = await apiToken(database);
  const url = Object.assign(new URL(database.url), { username: 'canary', password: PASSWORD }).href;
  fleet = await startFleet(url, { LOG_LEVEL: 'trace', EMBEDDINGS_BASE_URL: service.baseUrl, EMBEDDINGS_MODEL: 'm', EMBEDDINGS_API_KEY: LLM_KEY });
  web = await fleet.web();
  const worker = await fleet.worker();
  outputs = [web, worker].map((one) => () => one.stdout() + one.stderr());
}, 300_000);
afterAll(async () => {
  await fleet.end();
  await service.close();
});

test('secrets in the database password, cookie, link, tokens, error text and file names are found in no page, stream, export, audit or log', async () => {
  const operator = await createOperator(database.pool, 'ada', 'admin');
  const link = await createSigninLink(database.pool, operator!.id);
  const entered = await fetch(`${web.url}/signin/${link}`, { method: 'POST', headers: { origin: web.url, 'sec-fetch-site': 'same-origin' }, redirect: 'manual' });
  const cookie = /lb_session=[\w-]{43}/.exec(entered.headers.get('set-cookie') ?? '')![0];

  const name = `thesis ${STRAY_TOKEN} postgres://app:${PASSWORD}@db.pdf`;
  const sent = await upload(web.url, token, { userId: 'u', sessionId: 's', files: [{ name, bytes: await textPdf([englishText]) }] });
  expect(sent.status).toBe(202);
  const { jobId } = sent.body as { jobId: string };
  await until(async () => (await database.pool.query(`select 1 from parse_jobs where id = $1 and error_message is not null`, [jobId])).rowCount === 1, { timeoutMs: 60_000, what: 'the error of the embedding service on the row' });
  const acted = await fetch(`${web.url}/operations/cancel`, {
    method: 'POST', headers: { cookie, origin: web.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ queue: 'parse-jobs', id: jobId, reason: `it said ${STRAY_TOKEN} and ${cookie}` }),
  });
  expect(acted.status).toBeLessThan(500);

  const items = (await database.pool.query<{ id: string }>('select id from parse_items where job_id = $1', [jobId])).rows;
  const pages = ['/', '/queues/parse-items', '/queues/parse-jobs', `/queues/parse-jobs/${jobId}`, `/queues/parse-items/${items[0]!.id}`, '/sessions', '/workers', '/audit', '/find?q=thesis', '/settings', '/deployments'];
  const seen: [string, string][] = [];
  for (const page of pages) {
    for (const path of [page, page === '/' ? '/_root.data' : page.replace(/(\?|$)/, '.data$1')]) {
      seen.push([path, await (await fetch(web.url + path, { headers: { cookie, accept: 'text/html' } })).text()]);
    }
  }
  seen.push(['export', await (await fetch(`${web.url}/queues/parse-items/export?format=json`, { headers: { cookie } })).text()]);
  seen.push(['api', await (await fetch(`${web.url}/api/parse-jobs/${jobId}`, { headers: { authorization: `Bearer ${token}` } })).text()]);
  seen.push(['metrics', await (await fetch(`${web.url}/metrics`, { headers: { cookie } })).text()]);
  seen.push(['stream', await firstOf(`${web.url}/live?topics=now,workers,row:parse-jobs:${jobId}`, cookie)]);
  for (const table of ['parse_items', 'parse_jobs', 'queue_events', 'operator_actions', 'breakers', 'workers']) {
    seen.push([table, JSON.stringify((await database.pool.query(`select * from ${table}`)).rows)]);
  }
  outputs.forEach((output, index) => seen.push([`log ${index}`, output()]));

  expect(seen.find(([path]) => path === `/queues/parse-jobs/${jobId}`)![1]).toContain('embeddings_unavailable');
  const canaries = [PASSWORD, LLM_KEY, STRAY_TOKEN, cookie.slice('lb_session='.length), link, token];
  expect(seen.flatMap(([where, text]) => canaries.filter((canary) => text.includes(canary)).map((canary) => `${canary} in ${where}`))).toEqual([]);
}, 120_000);

test('whatever is asked for, each event is one line of JSON', async () => {
  for (const path of ['/%0a{"event":"forged"}', '/x%0d%0aforged', '/api/parse-jobs/%0aforged', `/find?q=${encodeURIComponent('\n{"event":"forged"}')}`]) {
    await fetch(web.url + path, { headers: { 'user-agent': 'a\tb', 'x-request-id': 'forged id' } });
  }
  for (const output of outputs) {
    const lines = output().trim().split('\n');
    expect(lines.filter((line) => { try { return typeof JSON.parse(line).event !== 'string'; } catch { return true; } })).toEqual([]);
    expect(lines.filter((line) => JSON.parse(line).event === 'forged')).toEqual([]);
  }
});

/** What the stream sends at first. */
async function firstOf(url: string, cookie: string): Promise<string> {
  const controller = new AbortController();
  const response = await fetch(url, { headers: { cookie }, signal: controller.signal });
  const reader = response.body!.getReader();
  let text = '';
  while (!/event: snapshot[\s\S]*\n\n/.test(text) && text.length < 200_000) {
    const { done, value } = await reader.read();
    if (done) break;
    text += Buffer.from(value).toString();
  }
  controller.abort();
  return text;
}
