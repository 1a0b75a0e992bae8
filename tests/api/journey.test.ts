import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ago, journeyWorld, SESSION, USER, type JourneyWorld } from '../console/journey-world.js';
import { apiToken, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let web: WebUnderTest;
let token: string;
let world: JourneyWorld;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database);
  token = await apiToken(database);
  world = journeyWorld(database.pool);
});
beforeEach(() => world.clear());
afterAll(() => web.close());

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${web.url}/api${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const own = `/sessions/${SESSION}/journey?userId=${USER}`;
const done = { state: 'succeeded' as const };

test('a product backend is told the stages, who holds them, the end and the sentence', async () => {
  const worker = await world.worker({ label: 'worker-b', version: 'v44' });
  await world.past();
  await world.link();
  await world.redeploy();
  await world.checking([...Array.from({ length: 10 }, () => ({ ...done, finished_at: ago('10 seconds') })), { state: 'running', worker_id: worker.id }, ...Array.from({ length: 9 }, () => ({}))]);
  const { status, headers, body } = await get(own);
  expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
  expect(Object.keys(body)).toEqual(['stages', 'eta', 'survivedRedeploys', 'answer']);
  expect(body.stages.map((stage: { name: string }) => stage.name)).toEqual(['uploaded', 'parsed', 'claims', 'checked', 'ready']);
  expect(body.stages[3]).toEqual({ name: 'checked', state: 'running', total: 20, done: 10, startedAt: expect.stringMatching(/^\d{4}-.*Z$/), finishedAt: null, holder: { label: 'worker-b', version: 'v44' } });
  expect(body.stages[4]).toEqual({ name: 'ready', state: 'ahead', total: null, done: null, startedAt: null, finishedAt: null, holder: null });
  expect(Date.parse(body.eta.from)).toBeLessThan(Date.parse(body.eta.to));
  expect(body.survivedRedeploys).toBe(1);
  expect([body.answer.en, body.answer.de]).toEqual([expect.stringMatching(/^Your report is on its way: 10 of 20 .* between .* UTC/), expect.stringMatching(/^Ihr Bericht ist in Arbeit: 10 von 20 /)]);
});

describe('polled,', () => {
  test('a finished journey is not read twice', async () => {
    await world.link();
    await world.checking([done], { state: 'succeeded', finished_at: ago('1 minute') });
    const first = await get(own);
    const again = await get(own, { 'if-none-match': first.headers.get('etag')! });
    expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, undefined, first.headers.get('etag')]);
  });

  test('a journey has another ETag as soon as anything of it has changed', async () => {
    await world.worker();
    const upload = await world.upload([{ state: 'running' }, {}]);
    const tags = [(await get(own)).headers.get('etag')];
    for (const change of [
      `update parse_items set version = version + 1 where job_id = '${upload.id}'`,
      `update parse_jobs set version = version + 1 where id = '${upload.id}'`,
    ]) {
      await database.pool.query(change);
      tags.push((await get(own, { 'if-none-match': tags.at(-1)! })).headers.get('etag'));
    }
    await world.link();
    tags.push((await get(own)).headers.get('etag'));
    const { id } = await world.checking([done, { state: 'running' }]);
    tags.push((await get(own)).headers.get('etag'));
    await database.pool.query(`update analysis_jobs set version = version + 1 where id = $1`, [id]);
    tags.push((await get(own)).headers.get('etag'));
    expect(new Set(tags).size).toBe(tags.length);
  });
});

test('a session that is foreign, unknown or erased is answered alike', async () => {
  await world.link();
  await world.checking([done, {}]);
  const answers = await Promise.all([`/sessions/${SESSION}/journey?userId=someone-else`, `/sessions/never/journey?userId=${USER}`, '/sessions/never/journey?userId=nobody'].map((path) => get(path)));
  await world.clear();
  answers.push(await get(own));
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(answers.map(() => [404, 'session_not_found']));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
});

test.each(['', '?userId=', '?userId=%20', `?userId=${'x'.repeat(201)}`, '?userId=a%07b', '?userId=a&userId=b'])('a question that cannot be read is refused: %s', async (query) => {
  expect(await get(`/sessions/${SESSION}/journey${query}`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});

test('nobody is told without a token', async () => {
  expect((await get(own, { authorization: '' })).status).toBe(401);
});
