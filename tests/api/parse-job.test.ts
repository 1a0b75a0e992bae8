import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertDocument, insertParseItem, insertParseJob } from '../support/factories.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { itemErrorCodes } from '../../server/api/item-errors.js';

let database: TestDatabase;
let web: WebUnderTest;
let token: string;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database);
  token = await apiToken(database);
});
afterAll(() => web.close());

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(`${web.url}${path}`, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) as Record<string, unknown> };
}

test('a job is shown with its items in upload order, results and failures', async () => {
  const job = await insertParseJob(database.pool, { state: 'awaiting', open_children: 1, total_children: 3 });
  const document = await insertDocument(database.pool);
  const done = await insertParseItem(database.pool, { job_id: job.id, state: 'succeeded', filename: 'a.pdf', document_id: document.id, page_count: 12, chunk_count: 40, quality: 'partial', failed_pages: [3, 7] });
  const failed = await insertParseItem(database.pool, { job_id: job.id, state: 'failed', filename: 'b.pdf', error_code: 'password_required' });
  const open = await insertParseItem(database.pool, { job_id: job.id, state: 'queued', filename: 'c.pdf', error_code: 'parser_crashed', error_message: 'once' });
  const { status, body } = await get(`/api/parse-jobs/${job.id}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    jobId: job.id, state: 'awaiting', items: [
      { itemId: done.id, filename: 'a.pdf', state: 'succeeded', pages: 12, chunks: 40, quality: 'partial', failedPages: [3, 7], documentId: document.id, error: null },
      { itemId: failed.id, filename: 'b.pdf', state: 'failed', pages: null, chunks: null, quality: null, failedPages: [], documentId: null, error: { code: 'password_required', message: expect.stringContaining('Remove the protection') } },
      { itemId: open.id, filename: 'c.pdf', state: 'queued', pages: null, chunks: null, quality: null, failedPages: [], documentId: null, error: null },
    ],
  });
});

test('an unchanged job is answered 304, and any write to it or to an item ends that', async () => {
  const job = await insertParseJob(database.pool);
  const item = await insertParseItem(database.pool, { job_id: job.id });
  const path = `/api/parse-jobs/${job.id}`;
  let tag = (await get(path)).headers.get('etag')!;
  expect(tag).toMatch(/^"[\d.]+"$/);
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
    const again = await get(path, { 'if-none-match': known });
    expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, null, tag]);
  }
  for (const [table, id] of [['parse_items', item.id], ['parse_jobs', job.id]]) {
    await database.pool.query(`update ${table} set version = version + 1 where id = $1`, [id]);
    const changed = await get(path, { 'if-none-match': tag });
    expect(changed.status).toBe(200);
    tag = changed.headers.get('etag')!;
  }
});

test.each([uuidv7(), 'nonsense', '00000000-0000-0000-0000-00000000000g', `${uuidv7()}x`, '%00', '%F0%9F%92%A9'])('an id that is none of ours (%s) is 404', async (id) => {
  const { status, body } = await get(`/api/parse-jobs/${id}`);
  expect([status, body?.code]).toEqual([404, 'job_not_found']);
  expect((await get(`/api/parse-jobs/${id}`, { 'if-none-match': '"1.1.1"' })).status).toBe(404);
});

test('HEAD answers like GET without a body, OPTIONS says what there is, other methods are 405', async () => {
  const job = await insertParseJob(database.pool);
  const head = await get(`/api/parse-jobs/${job.id}`, {}, 'HEAD');
  expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, null, expect.any(String)]);
  const options = await get(`/api/parse-jobs/${job.id}`, {}, 'OPTIONS');
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  const deleted = await get(`/api/parse-jobs/${job.id}`, {}, 'DELETE');
  expect([deleted.status, deleted.body?.code, deleted.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'GET, HEAD, OPTIONS']);
});

test('every item error code has an instruction of its own', async () => {
  const job = await insertParseJob(database.pool, { state: 'failed' });
  for (const error_code of itemErrorCodes) await insertParseItem(database.pool, { job_id: job.id, state: 'failed', error_code });
  const { body } = await get(`/api/parse-jobs/${job.id}`);
  const errors = (body!.items as { error: { code: string; message: string } }[]).map((item) => item.error);
  expect(errors.map((error) => error.code)).toEqual(itemErrorCodes);
  expect(new Set(errors.map((error) => error.message)).size).toBe(itemErrorCodes.length);
});

test('two hundred clients that poll an unchanged job all get 304', async () => {
  const job = await insertParseJob(database.pool);
  await insertParseItem(database.pool, { job_id: job.id });
  const path = `/api/parse-jobs/${job.id}`;
  const tag = (await get(path)).headers.get('etag')!;
  const answers = await Promise.all(Array.from({ length: 200 }, () => get(path, { 'if-none-match': tag })));
  expect(answers.every((answer) => answer.status === 304)).toBe(true);
});
