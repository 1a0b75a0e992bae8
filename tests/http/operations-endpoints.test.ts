import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pino } from 'pino';
import { insertParseItem, sql } from '../support/factories.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { apiToken, signedIn, startWeb, type WebUnderTest } from './web-under-test.js';

let database: TestDatabase;
let web: WebUnderTest;
const metricsToken = 'a-metrics-token-of-length';

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { config: { metricsToken, appVersion: 'v7' } });
});
afterAll(() => web.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${web.url}${path}`, { headers });

describe('health', () => {
  test('the process is alive, and ready once database, schema and listener are', async () => {
    expect(await (await get('/healthz')).json()).toEqual({ status: 'alive', version: 'v7' });
    const ready = await get('/readyz');
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', version: 'v7', reasons: [] }]);
  });

  test('it is not ready while a migration of its version is missing, and says which', async () => {
    await database.pool.query(`update schema_migrations set name = 'x' where name = '0002_people_and_tokens.sql'`);
    const answer = await get('/readyz');
    await database.pool.query(`update schema_migrations set name = '0002_people_and_tokens.sql' where name = 'x'`);
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('0002_people_and_tokens.sql')]);
  });

  test('it is not ready without its listener, says so, and becomes ready by itself', async () => {
    const other = await startWeb(database, { config: { appVersion: 'deaf' } });
    await onServer((client) => client.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'leaseboard web/listener deaf'`));
    await until(() => !other.world.listener.state().up);
    const answer = await fetch(`${other.url}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('listener')]);
    await until(async () => (await fetch(`${other.url}/readyz`)).ok);
    await other.close();
  });

  test('it is not ready while the database is away; pages say so without signing anybody out; the process lives', async () => {
    const { cookie } = await signedIn(database);
    const other = await startWeb(database);
    other.world.pool.query = (() => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))) as never;
    expect((await fetch(`${other.url}/readyz`)).status).toBe(503);
    const page = await fetch(`${other.url}/`, { headers: { cookie, accept: 'text/html' }, redirect: 'manual' });
    expect([page.status, page.headers.get('retry-after'), await page.text()]).toEqual([503, '5', expect.stringContaining('database does not answer')]);
    const call = await fetch(`${other.url}/api/parse-jobs/x`, { headers: { authorization: `Bearer ${await apiToken(database)}` } });
    expect([call.status, (await call.json() as { code: string }).code]).toEqual([503, 'database_unreachable']);
    expect((await fetch(`${other.url}/healthz`)).status).toBe(200);
    await other.close();
  });
});

test('a statement that gets no answer is given up, said so, and costs the pool no connection', async () => {
  const blocker = await database.pool.connect();
  await blocker.query('begin; lock table api_tokens in access exclusive mode');
  const token = `lb_${'a'.repeat(43)}`;
  const calls = Array.from({ length: 15 }, () => fetch(`${web.url}/api/parse-jobs/x`, { headers: { authorization: `Bearer ${token}` } }));
  for (const call of await Promise.all(calls)) expect([call.status, (await call.json() as { code: string }).code]).toEqual([503, expect.stringMatching(/^database_(slow|unreachable)$/)]);
  await blocker.query('rollback');
  blocker.release();
  expect((await fetch(`${web.url}/api/parse-jobs/x`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
}, 40_000);

describe('metrics', () => {
  const scrape = async () => (await get('/metrics', { authorization: `Bearer ${metricsToken}` })).text();

  test('are for the bearer of METRICS_TOKEN and for the signed-in only', async () => {
    const { cookie } = await signedIn(database);
    expect((await get('/metrics')).status).toBe(401);
    expect((await get('/metrics', { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await get('/metrics', { cookie })).status).toBe(200);
    expect((await get('/metrics', { authorization: `Bearer ${metricsToken}` })).status).toBe(200);
  });

  test('count rows by queue and state, stale leases and the oldest that waits', async () => {
    await insertParseItem(database.pool, { state: 'running', lease_expires_at: sql(`now() - interval '1 second'`) });
    await insertParseItem(database.pool, { state: 'running' });
    await insertParseItem(database.pool, { state: 'queued', run_after: sql(`now() - interval '100 seconds'`) });
    await insertParseItem(database.pool, { state: 'queued', run_after: sql(`now() + interval '1 hour'`) });
    await insertParseItem(database.pool, { state: 'succeeded' });
    const text = await scrape();
    expect(text).toMatch(/^leaseboard_rows\{queue="parse_items",state="running"\} 2$/m);
    expect(text).toMatch(/^leaseboard_rows\{queue="parse_items",state="queued"\} 2$/m);
    expect(text).toMatch(/^leaseboard_rows\{queue="parse_items",state="succeeded"\} 1$/m);
    expect(text).toMatch(/^leaseboard_rows\{queue="parse_jobs",state="awaiting"\} 4$/m);
    expect(text).toMatch(/^leaseboard_stale_leases\{queue="parse_items"\} 1$/m);
    expect(text).toMatch(/^leaseboard_oldest_waiting_seconds\{queue="parse_items"\} 10\d\./m);
    expect(text).toMatch(/^leaseboard_listener_up 1$/m);
    expect(text).toMatch(/^leaseboard_database_up 1$/m);
  });

  test('add each closed minute once: counters and histograms only grow', async () => {
    const minute = (ago: string, n: number) => database.pool.query(
      `insert into queue_minutes (queue, minute, enqueued, acquired, succeeded, failed, cancelled, given_back, lost, late_writes, waits, runs)
       values ('parse_items', date_trunc('minute', now() - $1::interval), 0, 0, 0, 0, 0, $2, 1, 0, array_fill($2::int, array[5]), array_fill(0, array[5]))`, [ago, n]);
    await minute('10 minutes', 2);
    await scrape();
    await minute('5 minutes', 3);
    await scrape();
    const text = await scrape();
    expect(text).toMatch(/^leaseboard_leases_lost_total\{queue="parse_items"\} 2$/m);
    expect(text).toMatch(/^leaseboard_given_back_total\{queue="parse_items"\} 5$/m);
    expect(text).toMatch(/^leaseboard_wait_seconds_count\{queue="parse_items"\} 25$/m);
    expect(text).toMatch(/^leaseboard_wait_seconds_bucket\{queue="parse_items",le="\+Inf"\} 25$/m);
    expect(text).toMatch(/^# TYPE leaseboard_wait_seconds histogram$/m);
  });

  test('say what became of the webhook\'s messages, and what waits', async () => {
    await database.pool.query(`insert into webhook_messages (id, attention_key, event, body) values (gen_random_uuid(), 'sweeper', 'attention.began', '{}')`);
    await database.pool.query('update webhook set sent_total = 5, failed_total = 3');
    await scrape();
    await database.pool.query('update webhook set sent_total = 7, given_up_total = 1');
    const text = await scrape();
    for (const [outcome, total] of [['sent', 7], ['failed', 3], ['given_up', 1]]) expect(text).toContain(`leaseboard_webhook_messages_total{outcome="${outcome}"} ${total}\n`);
    expect(text).toMatch(/^leaseboard_webhook_waiting 1$/m);
  });
});

test('a request is one log line with its id, without query, tokens or cookies', async () => {
  const lines: string[] = [];
  const logged = await startWeb(database, { log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }) as never });
  const token = await apiToken(database);
  const response = await fetch(`${logged.url}/api/parse-jobs/x?secret=hidden`, { headers: { authorization: `Bearer ${token}`, cookie: 'lb_session=hidden', 'x-request-id': 'caller-id-1' } });
  expect(response.headers.get('x-request-id')).toBe('caller-id-1');
  const [line, ...more] = lines.filter((one) => one.includes('"event":"request"'));
  expect(more).toEqual([]);
  expect(JSON.parse(line!)).toMatchObject({ requestId: 'caller-id-1', req: { method: 'GET', path: '/api/parse-jobs/x' }, res: { status: 404 }, ms: expect.any(Number) });
  expect(lines.join('')).not.toMatch(/hidden|lb_[\w-]{20}/);
  await logged.close();
});
