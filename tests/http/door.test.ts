import net from 'node:net';
import type { RequestHandler } from 'express';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signOut } from '../../server/operations/sessions.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { signedIn, startWeb, type WebUnderTest } from './web-under-test.js';

let database: TestDatabase;
let web: WebUnderTest;

/** Stands where Remix stands: whatever reaches it got through the door. */
const inside: RequestHandler = (req, res) => {
  if (req.path === '/fault') throw new Error('a fault of ours');
  res.json({ inside: req.originalUrl, operator: res.locals.operator, nonce: res.locals.nonce });
};

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database, { parts: () => ({ pages: inside }) });
});
afterAll(() => web.close());

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return fetch(`${web.url}${path}`, { method, headers: { ...html, ...headers }, redirect: 'manual' });
}

/** One request whose request line is exactly this. */
async function rawRequest(line: string): Promise<string> {
  const socket = net.connect(web.port, '127.0.0.1');
  socket.write(`${line} HTTP/1.1\r\nHost: 127.0.0.1:${web.port}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

test('a page that fails shows the request id that it asks to report, and nothing of the fault', async () => {
  const { cookie } = await signedIn(database);
  const response = await get('/fault', { cookie });
  const page = await response.text();
  const id = response.headers.get('x-request-id');
  expect([response.status, id]).toEqual([500, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(page).toContain(`Request id: <code>${id}</code>`);
  expect(page).not.toContain('a fault of ours');
});

describe('without a session', () => {
  test.each(['/', '/queues/parse-items?state=failed', '/workers', '/anything', '/signin2', '/signinx/y', '/Signin', '/signin/a/b', '/signin/../workers', '/%73ignin', '/signin%2Fworkers'])('the document %s leads to the sign-in page', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toMatch(/^\/signin(\?returnTo=%2F[^/]|$)/);
  });

  test('the sign-in page learns where its visitor wanted to go', async () => {
    expect((await get('/queues/parse-items?state=failed')).headers.get('location')).toBe('/signin?returnTo=%2Fqueues%2Fparse-items%3Fstate%3Dfailed');
  });

  test.each([['/queues/parse-items.data?_routes=root&state=failed', '/signin?returnTo=%2Fqueues%2Fparse-items%3Fstate%3Dfailed'], ['/_root.data', '/signin']])('the data request %s is answered 401 with the way to the sign-in page', async (path, way) => {
    const response = await get(path);
    expect([response.status, await response.text()]).toEqual([401, expect.stringContaining(JSON.stringify(way))]);
  });

  test.each(['/__manifest?p=/workers&version=1', '/live?topics=summary', '/signin?_data=routes/workers', '/workers?_data=routes/workers'])('%s is answered 401', async (path) => {
    const response = await get(path);
    expect([response.status, (await response.json() as { code: string }).code]).toEqual([401, 'signed_out']);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'])('%s to a page is answered 401', async (method) => {
    for (const path of ['/', '/workers', '/queues/parse-items/x']) expect((await get(path, { 'sec-fetch-site': 'same-origin' }, method)).status).toBe(401);
  });

  test('an event stream asked for anywhere is answered 401', async () => {
    expect((await get('/workers', { accept: 'text/event-stream' })).status).toBe(401);
  });

  test.each(['/signin', '/signin.data', '/signin/abc_DEF-123', '/signin/abc.data', '/signin?returnTo=%2F'])('%s is open', async (path) => {
    const response = await get(path);
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ operator: null })]);
  });

  test.each(['GET http://127.0.0.1/workers', 'GET //evil.example/workers', 'GET /\\evil.example', 'GET /..//evil.example/', 'OPTIONS *'])('the request line "%s" reaches no page and leads nowhere else', async (line) => {
    const answer = await rawRequest(line);
    expect(answer).toMatch(/^HTTP\/1\.1 (302|400|401|404) /);
    expect(answer).not.toContain('"inside"');
    expect(/^location: (.*)$/im.exec(answer)?.[1] ?? '/signin').toMatch(/^\/signin/);
  });

  test.each(['[', 'a b', 'a/../b', ''])('a Host header that is no host (%j) is refused', async (host) => {
    const socket = net.connect(web.port, '127.0.0.1');
    socket.write(`GET /workers HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 (400|302) /);
  });

  test.each(['lb_session=', 'lb_session=short', `lb_session=${'a'.repeat(43)}`, 'lb_session=%00', `lb_session="${'a'.repeat(43)}"`, 'other=x'])('the cookie %j is nobody', async (cookie) => {
    expect((await get('/', { cookie })).status).toBe(302);
  });
});

describe('with a session', () => {
  test('a page is given the operator with the role of this moment', async () => {
    const { cookie, operatorId } = await signedIn(database, 'viewer');
    const before = await (await get('/workers', { cookie })).json() as { operator: object };
    expect(before.operator).toMatchObject({ id: operatorId, role: 'viewer' });
    await database.pool.query(`update operators set role = 'admin' where id = $1`, [operatorId]);
    const after = await (await get('/workers', { cookie })).json() as { operator: object };
    expect(after.operator).toMatchObject({ role: 'admin' });
  });

  test('a changed role renews its secret: the new one is set at the next request, the old one is dead soon after, and the session is still the same', async () => {
    const { cookie, operatorId } = await signedIn(database, 'viewer');
    const before = await get('/', { cookie });
    const { operator } = await before.json() as { operator: { sessionId: string } };
    expect(before.headers.getSetCookie()).toEqual([]);
    await database.pool.query(`update operators set role = 'operator' where id = $1`, [operatorId]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => get('/', { cookie })));   // requests of one page overtake each other
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const renewed = answers.flatMap((answer) => answer.headers.getSetCookie());
    expect(renewed).toEqual([expect.stringMatching(/^lb_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/)]);
    const fresh = renewed[0]!.split(';', 1)[0]!;
    expect(fresh).not.toBe(cookie);
    expect((await (await get('/', { cookie: fresh })).json() as { operator: object }).operator).toMatchObject({ role: 'operator', sessionId: operator.sessionId });
    await database.pool.query(`update operator_sessions set renewed_at = renewed_at - interval '11 seconds' where operator_id = $1`, [operatorId]);
    expect((await get('/', { cookie })).status).toBe(302);
    expect((await get('/', { cookie: fresh })).status).toBe(200);
  });

  test('it ends by signing out, and signing out twice is safe', async () => {
    const { cookie } = await signedIn(database);
    const { operator } = await (await get('/', { cookie })).json() as { operator: { sessionId: string } };
    expect([await signOut(database.pool, operator.sessionId), await signOut(database.pool, operator.sessionId)]).toEqual([true, false]);
    expect((await get('/', { cookie })).status).toBe(302);
  });

  test.each([
    ['seven days after signing in', `update operator_sessions set expires_at = now() where operator_id = $1`],
    ['after twelve hours without a request', `update operator_sessions set last_seen_at = now() - interval '12 hours' where operator_id = $1`],
    ['when the account is disabled', 'update operators set disabled_at = now() where id = $1'],
  ])('it ends %s', async (_when, statement) => {
    const { cookie, operatorId } = await signedIn(database);
    expect((await get('/', { cookie })).status).toBe(200);
    await database.pool.query(statement, [operatorId]);
    expect((await get('/', { cookie })).status).toBe(302);
  });

  test('a request keeps it from idling out, noted at most once a minute', async () => {
    const { cookie, operatorId } = await signedIn(database);
    const seen = async () => (await database.pool.query<{ at: string }>('select last_seen_at::text as at from operator_sessions where operator_id = $1', [operatorId])).rows[0]!.at;
    const first = await seen();
    await get('/', { cookie });
    expect(await seen()).toBe(first);
    await database.pool.query(`update operator_sessions set last_seen_at = now() - interval '2 minutes' where operator_id = $1`, [operatorId]);
    await get('/', { cookie });
    expect(await seen() > first).toBe(true);
  });
});

describe('an unsafe request with a session', () => {
  const post = async (headers: Record<string, string>) => {
    const { cookie } = await signedIn(database, 'admin');
    return get('/queues/parse-items', { cookie, ...headers }, 'POST');
  };

  test('from our own pages passes', async () => {
    expect((await post({ origin: web.url })).status).toBe(200);
    expect((await post({ origin: web.url, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await post({ origin: 'null', 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['without any word of where it comes from', {}],
    ['from another site', { origin: 'https://evil.example' }],
    ['from another site that forges nothing else', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['from a sibling', { 'sec-fetch-site': 'same-site' }],
    ['from an opaque origin', { origin: 'null' }],
    ['from another port', { origin: 'http://127.0.0.1:1' }],
    ['with an Origin that is no address', { origin: 'nonsense' }],
    ['with contradicting words', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
    ['with a forwarded host that agrees with the attacker', { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }],
  ])('%s is refused', async (_how, headers) => {
    const response = await post(headers);
    expect([response.status, (await response.json() as { code: string }).code]).toEqual([403, 'foreign_origin']);
  });

  test('the sign-in form is guarded alike', async () => {
    expect((await get('/signin/abc', { origin: 'https://evil.example' }, 'POST')).status).toBe(403);
  });
});

test('behind a proxy the public address counts, and is what the pages are told', async () => {
  const behind = await startWeb(database, { config: { publicUrl: 'https://console.example' }, parts: () => ({ pages: (req, res) => void res.json({ host: req.headers.host }) }) });
  const { cookie } = await signedIn(database);
  const post = (origin: string) => fetch(`${behind.url}/workers`, { method: 'POST', headers: { cookie, origin } });
  expect(await (await post('https://console.example')).json()).toEqual({ host: 'console.example' });
  expect((await post(behind.url)).status).toBe(403);
  expect((await fetch(behind.url, { redirect: 'manual' })).headers.get('strict-transport-security')).toMatch(/max-age/);
  await behind.close();
});

test('every answer carries the policy: scripts by nonce alone, no frames, no plugins', async () => {
  const { cookie } = await signedIn(database);
  const response = await get('/', { cookie });
  const policy = response.headers.get('content-security-policy')!;
  const { nonce } = await response.json() as { nonce: string };
  expect(policy).toContain(`script-src 'self' 'nonce-${nonce}'`);
  expect(/script-src [^;]*unsafe-(inline|eval)/.test(policy)).toBe(false);
  expect(policy).toMatch(/frame-ancestors 'none'.*|.*frame-ancestors 'none'/);
  expect(policy).toMatch(/object-src 'none'/);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('x-powered-by')).toBeNull();
  const second = await get('/', { cookie });
  expect((await second.json() as { nonce: string }).nonce).not.toBe(nonce);
});

test('an answer of the API lets a browser that takes it for a page run and load nothing', async () => {
  for (const path of ['/api/parse-jobs/x', '/api/%', '/api']) {
    const { headers } = await get(path);
    expect([path, ...['content-security-policy', 'x-frame-options', 'x-content-type-options', 'cross-origin-resource-policy'].map((name) => headers.get(name))])
      .toEqual([path, `default-src 'none';frame-ancestors 'none'`, 'DENY', 'nosniff', 'same-origin']);
    expect([path, headers.get('x-request-id'), headers.get('x-powered-by')]).toEqual([path, expect.any(String), null]);
  }
});
