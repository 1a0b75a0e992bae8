import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiScopes, createApiToken, insertApiToken, revokeApiToken } from '../../server/operations/accounts.js';
import { secretHash } from '../../server/operations/secret.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { signedIn, startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { formOf } from './uploads.js';

let database: TestDatabase;
let web: WebUnderTest;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database);
});
afterAll(() => web.close());

async function call(path: string, headers: Record<string, string> = {}, method = 'GET', body?: BodyInit) {
  const response = await fetch(`${web.url}${path}`, { method, headers, body });
  return { status: response.status, headers: response.headers, problem: await response.json() as Record<string, unknown> };
}

test.each<[string, Record<string, string>]>([
  ['no token', {}],
  ['an empty header', { authorization: '' }],
  ['another scheme', { authorization: 'Basic bGI6eA==' }],
  ['an unknown token', { authorization: `Bearer lb_${'a'.repeat(43)}` }],
  ['a token with more behind it', { authorization: `Bearer lb_${'a'.repeat(43)} x` }],
  ['an endless token', { authorization: `Bearer lb_${'a'.repeat(5000)}` }],
])('%s is answered 401 for every path and method, with what to do', async (_what, headers) => {
  for (const [method, path] of [['GET', '/api/parse-jobs/x'], ['POST', '/api/parse-sources'], ['DELETE', '/api/parse-jobs/x'], ['OPTIONS', '/api/parse-sources'], ['GET', '/api'], ['GET', '/api/nothing']] as const) {
    const { status, problem, headers: answered } = await call(path, headers, method);
    expect([method, path, status, problem.code]).toEqual([method, path, 401, 'unauthorized']);
    expect(problem.detail).toMatch(/leaseboard tokens add/);
    expect(answered.get('www-authenticate')).toMatch(/^Bearer/);
    expect(answered.get('content-type')).toMatch(/problem\+json/);
  }
});

test('a session of the console is no token', async () => {
  const { cookie } = await signedIn(database, 'admin');
  expect((await call('/api/parse-sources', { cookie, origin: web.url }, 'POST', formOf({}))).status).toBe(401);
});

test('a token is no session', async () => {
  const token = await createApiToken(database.pool, 'no session');
  const response = await fetch(`${web.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(401);
});

test('a revoked token stops with the next request', async () => {
  const token = await createApiToken(database.pool, 'short-lived');
  const headers = { authorization: `Bearer ${token}` };
  expect((await call('/api/parse-jobs/x', headers)).status).toBe(404);
  await revokeApiToken(database.pool, 'short-lived');
  const { status, problem } = await call('/api/parse-jobs/x', headers);
  expect([status, problem.detail]).toEqual([401, expect.stringContaining('revoked')]);
});

test('an expired token is refused like a revoked one, and says so', async () => {
  const token = await createApiToken(database.pool, 'until now');
  await database.pool.query(`update api_tokens set expires_at = now() where name = 'until now'`);
  const { status, problem } = await call('/api/parse-jobs/x', { authorization: `Bearer ${token}` });
  expect([status, problem.code, problem.detail]).toEqual([401, 'unauthorized', expect.stringContaining('expired')]);
});

describe('a token may do what it was made for', () => {
  const calls = [
    ['GET', '/api/parse-jobs/x', 'api:read'], ['GET', '/api/deployments/x/attempts/1', 'api:read'], ['OPTIONS', '/api/parse-sources', 'api:read'],
    ['POST', '/api/parse-sources', 'api:write'], ['POST', '/api/analysis-jobs', 'api:write'], ['POST', '/api/projects/p/publish', 'api:write'], ['DELETE', '/api/sessions/s/sources?userId=u', 'api:write'],
    ['DELETE', '/api/users/u', 'api:erase'],
  ] as const;

  test.each(apiScopes)('%s, and nothing else', async (scope) => {
    const token = `lb_${randomBytes(32).toString('base64url')}`;
    await insertApiToken(database.pool, { id: uuidv7(), name: `only ${scope}`, sha256: secretHash(token), scopes: [scope], expiresInDays: null });
    for (const [method, path, needed] of calls) {
      const response = await fetch(`${web.url}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
      const text = await response.text();
      expect([method, path, response.status === 403]).toEqual([method, path, needed !== scope]);
      if (response.status !== 403) continue;
      expect(JSON.parse(text)).toMatchObject({ code: 'insufficient_scope', scope: needed, detail: expect.stringContaining(`needs ${needed}`) });
      expect(response.headers.get('www-authenticate')).toBe(`Bearer realm="leaseboard", error="insufficient_scope", scope="${needed}"`);
    }
  });

  test('and one from before there were scopes everything', async () => {
    const token = `lb_${randomBytes(32).toString('base64url')}`;
    await database.pool.query('insert into api_tokens (id, name, token_sha256) values ($1, $2, $3)', [uuidv7(), 'old', secretHash(token)]);
    for (const [method, path] of calls) expect((await fetch(`${web.url}${path}`, { method, headers: { authorization: `Bearer ${token}` } })).status).not.toBe(403);
  });
});

test('its last use is noted, at most once a minute', async () => {
  const token = await createApiToken(database.pool, 'used');
  const used = async () => (await database.pool.query<{ at: string | null }>(`select last_used_at::text as at from api_tokens where name = 'used'`)).rows[0]!.at;
  expect(await used()).toBeNull();
  await call('/api/parse-jobs/x', { authorization: `Bearer ${token}` });
  const first = await used();
  await call('/api/parse-jobs/x', { authorization: `bearer ${token}` });
  expect([typeof first, await used()]).toEqual(['string', first]);
});

test('paths and methods that do not exist are problems too', async () => {
  const headers = { authorization: `Bearer ${await createApiToken(database.pool, 'lost')}` };
  for (const path of ['/api', '/api/', '/api/nothing', '/api/parse-jobs', '/api/Parse-Sources', '/api/parse-jobs/x/y', '/api/%']) {
    const { status, problem, headers: answered } = await call(path, headers);
    expect([path, status < 500, answered.get('content-type')]).toEqual([path, true, 'application/problem+json; charset=utf-8']);
    expect(problem.code).toMatch(/^(no_such_call|invalid_request)$/);
  }
  const wrong = await call('/api/parse-sources', headers, 'GET');
  expect([wrong.status, wrong.problem.code, wrong.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'POST, OPTIONS']);
});

test('a JSON body beyond its limit, or broken, is a problem and not a crash', async () => {
  const headers = { authorization: `Bearer ${await createApiToken(database.pool, 'json')}`, 'content-type': 'application/json' };
  for (const [body, status] of [['{"a":', 400], [`"${'x'.repeat(70_000)}"`, 413], ['[1]', 400]] as const) {
    const answer = await call('/api/analysis-jobs', headers, 'POST', body);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json; charset=utf-8']);
  }
});
