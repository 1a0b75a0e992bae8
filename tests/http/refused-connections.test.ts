/** A server that refuses to open connections is an outage like one that does not answer: 503 everywhere, nobody is signed out, and all is well once it accepts them again. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isConnectionError, refusalAtConnect } from '../../server/db/connection-errors.js';
import { asProblem } from '../../server/http/failures.js';
import { clientFiles } from '../../server/http/files.js';
import { openLive } from '../../server/http/live.js';
import { loadBuild, pages } from '../../server/http/pages.js';
import { onServer, testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { requireBuiltConsole } from './built-console.js';
import { apiToken, signedIn, startWeb, type WebUnderTest } from './web-under-test.js';

const role = `refused_${process.pid}`;
let database: TestDatabase;
let name: string;
let web: WebUnderTest;
let cookie: string;
let token: string;
const html = { accept: 'text/html' };

beforeAll(async () => {
  const root = await requireBuiltConsole();
  const build = await loadBuild(root);
  database = await testDatabase();
  name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`create role ${role} login password 'right'; grant pg_read_all_data, pg_write_all_data to ${role}`);
  const url = Object.assign(new URL(database.url), { username: role, password: 'right' }).href;
  web = await startWeb(database, {
    config: { databaseUrl: url, databaseDirectUrl: url },
    parts(world) {
      const live = openLive(world);
      return { files: clientFiles(root), pages: pages(world, build), live: live.router };
    },
  });
  [{ cookie }, token] = [await signedIn(database, 'operator'), await apiToken(database)];
}, 300_000);
beforeEach(() => closeIdle(web.world.pool));
afterAll(async () => {
  await web.close();
  await database.pool.query(`drop owned by ${role}; drop role ${role}`);
});

/** Nothing of the pool is in use and it has no connection left. */
async function closeIdle(pool: pg.Pool): Promise<void> {
  await until(async () => {
    await onServer((client) => client.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = $1 and application_name not like '%listener%'`, [role]));
    return pool.totalCount === 0;
  });
}

const ask = (path: string, headers: Record<string, string> = {}) => fetch(web.url + path, { headers: { cookie, ...headers }, redirect: 'manual' });

describe.each([
  ['55000', 'accepts no connections', () => `alter database ${name} allow_connections false`, () => `alter database ${name} allow_connections true`],
  ['53300', 'has no connection left', () => `alter role ${role} connection limit 0`, () => `alter role ${role} connection limit -1`],
  ['28P01', 'knows another password', () => `alter role ${role} password 'changed'`, () => `alter role ${role} password 'right'`],
  ['28000', 'lets this role in no more', () => `alter role ${role} nologin`, () => `alter role ${role} login`],
  ['42501', 'does not allow this role to connect', () => `revoke connect on database ${name} from public`, () => `grant connect on database ${name} to public`],
])('while the database answers a new connection with %s: it %s', (code, _what, refuse, accept) => {
  beforeAll(() => onServer((client) => client.query(refuse())));
  afterAll(async () => {
    await onServer((client) => client.query(accept()));
    expect((await ask('/workers', html)).status).toBe(200);
    await until(async () => (await ask('/readyz')).ok, { what: 'ready again' });
  });

  test('a page is 503, says so, asks again by itself, and signs nobody out', async () => {
    const page = await ask('/workers', html);
    const text = await page.text();
    expect([page.status, page.headers.get('retry-after'), page.headers.getSetCookie()]).toEqual([503, '5', []]);
    expect(text).toContain(`The database refuses connections right now (SQLSTATE ${code}).`);
    expect(text).toContain('<meta http-equiv="refresh" content="5">');
  });

  test.each([
    ['the API', '/api/parse-jobs/x', () => ({ authorization: `Bearer ${token}` })],
    ['the stream', '/live?topics=summary', () => ({ accept: 'text/event-stream' })],
    ['a data request', '/workers.data', () => ({})],
    ['a download', '/audit/export', () => ({})],
    ['metrics', '/metrics', () => ({})],
  ])('%s is 503 with the problem and when to try again', async (_name, path, headers) => {
    const answer = await ask(path, headers());
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([503, '5', expect.objectContaining({ code: 'database_unreachable', detail: expect.stringContaining(code) })]);
  });

  test('readiness names the refusal, and the process lives', async () => {
    const ready = await ask('/readyz');
    expect([ready.status, await ready.json()]).toEqual([503, expect.objectContaining({ reasons: expect.arrayContaining([`database: it refuses connections (SQLSTATE ${code})`]) })]);
    expect((await ask('/healthz')).status).toBe(200);
  });

  test('a page that got one connection and is refused the next is 503 as well, as a document and as data', async () => {
    for (const [path, form] of [['/workers', html], ['/workers.data', {}]] as const) {
      await onServer((client) => client.query(accept()));
      await web.world.pool.query('select 1');
      await onServer((client) => client.query(refuse()));
      expect(web.world.pool.totalCount).toBe(1);
      const page = await ask(path, form);
      expect([page.status, await page.text()]).toEqual([503, expect.stringContaining(path === '/workers' ? 'No answer right now' : 'database_unreachable')]);
      if (path === '/workers') expect(page.headers.get('retry-after')).toBe('5');
      await closeIdle(web.world.pool);
    }
  });
});

test('the same SQLSTATE from a statement is no outage', async () => {
  await database.pool.query('create sequence unused');
  const error = await database.pool.query(`select currval('unused')`).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: '55000' });
  expect([isConnectionError(error), refusalAtConnect(error), asProblem(error).status]).toEqual([false, undefined, 500]);
});
