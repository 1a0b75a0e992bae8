import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { pdfBytes, upload } from './uploads.js';

let database: TestDatabase;
let web: WebUnderTest;
let other: WebUnderTest;
let token: string;
const what = { userId: 'u', files: [{ name: 'a.pdf', bytes: pdfBytes() }] };

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database);
  other = await startWeb(database);
  token = await apiToken(database);
});
afterAll(() => Promise.all([web.close(), other.close()]));
beforeEach(() => database.pool.query('truncate parse_jobs, idempotency_keys cascade'));

async function jobs(): Promise<number> {
  return (await database.pool.query<{ n: number }>('select count(*)::int as n from parse_jobs')).rows[0]!.n;
}

const withKey = (key: string) => ({ 'idempotency-key': key });

test('the same key and body again gives the first answer again and stages nothing more', async () => {
  const first = await upload(web.url, token, what, withKey('k1'));
  const again = await upload(other.url, token, what, withKey('k1'));
  expect(again.status).toBe(202);
  expect(again.body).toEqual(first.body);
  expect(again.headers.location).toBe(first.headers.location);
  expect([first.headers['idempotency-replayed'], again.headers['idempotency-replayed']]).toEqual([undefined, 'true']);
  expect(await jobs()).toBe(1);
});

test('twenty at once with one key, over two processes, make one job and all get its answer', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, k) => upload(k % 2 ? web.url : other.url, token, what, withKey('k2'))));
  expect(new Set(answers.map((answer) => answer.body.jobId)).size).toBe(1);
  expect(answers.every((answer) => answer.status === 202)).toBe(true);
  expect(await jobs()).toBe(1);
});

test.each([
  ['another file', { ...what, files: [{ name: 'a.pdf', bytes: pdfBytes() }] }],
  ['another file name', { ...what, files: [{ name: 'b.pdf', bytes: what.files[0]!.bytes }] }],
  ['another user', { ...what, userId: 'v' }],
  ['an e-mail more', { ...what, userEmail: 'u@example.org' }],
])('the same key with %s is refused as idempotency_mismatch', async (_what, different) => {
  await upload(web.url, token, what, withKey('k3'));
  const answer = await upload(web.url, token, different, withKey('k3'));
  expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_mismatch']);
  expect(await jobs()).toBe(1);
});

test('a replay is answered although the caps are reached by now', async () => {
  const first = await upload(web.url, token, what, withKey('k4'));
  for (let k = 0; k < 2; k++) await upload(web.url, token, what);
  expect((await upload(web.url, token, what)).status).toBe(429);
  expect((await upload(web.url, token, what, withKey('k4'))).body).toEqual(first.body);
});

test('a refusal is not kept: the same key works once there is room', async () => {
  for (let k = 0; k < 3; k++) await upload(web.url, token, what);
  expect((await upload(web.url, token, what, withKey('k5'))).status).toBe(429);
  await database.pool.query('truncate parse_jobs cascade');
  expect((await upload(web.url, token, what, withKey('k5'))).status).toBe(202);
});

test('another token has keys of its own', async () => {
  const first = await upload(web.url, token, what, withKey('k6'));
  const second = await upload(web.url, await apiToken(database), what, withKey('k6'));
  expect(second.body.jobId).not.toBe(first.body.jobId);
});

test('after 24 hours the key is free again, and old answers are cleared', async () => {
  const first = await upload(web.url, token, what, withKey('k7'));
  await upload(web.url, token, { ...what, userId: 'w' }, withKey('k8'));
  await database.pool.query(`update idempotency_keys set created_at = now() - interval '24 hours 1 second'`);
  const second = await upload(web.url, token, what, withKey('k7'));
  expect(second.body.jobId).not.toBe(first.body.jobId);
  const { rows } = await database.pool.query('select key from idempotency_keys');
  expect(rows).toEqual([{ key: 'k7' }]);
});

test.each(['', 'with space', 'ü', 'x'.repeat(201)])('a key that is no key (%j) is refused', async (key) => {
  const response = await fetch(`${web.url}/api/parse-sources`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=XX', 'idempotency-key': key }, body: 'x' });
  expect([response.status, (await response.json() as { code: string }).code]).toEqual([400, 'invalid_idempotency_key']);
});
