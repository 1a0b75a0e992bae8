import type { ServerBuild } from '@remix-run/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientFiles } from '../../server/http/files.js';
import { loadBuild, pages } from '../../server/http/pages.js';
import { createOperator, createSigninLink } from '../../server/operations/accounts.js';
import { redeemSigninLink } from '../../server/operations/sign-in.js';
import { signInLimits } from '../../server/operations/sign-in-limit.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { oidcStub, STUB_CLIENT, type OidcStub } from '../support/oidc-stub.js';
import { requireBuiltConsole } from './built-console.js';
import { signedIn, startWeb, type WebUnderTest } from './web-under-test.js';

const HOME = 'https://console.example';
const PASSWORD = 'correct horse battery staple';
let database: TestDatabase;
let stub: OidcStub;
let build: ServerBuild;
let root: string;
let web: WebUnderTest;

const start = (config: object) => startWeb(database, { config: { publicUrl: HOME, sessionSecret: 'x'.repeat(40), ...config }, parts: (world) => ({ files: clientFiles(root), pages: pages(world, build) }) });

beforeAll(async () => {
  root = await requireBuiltConsole();
  build = await loadBuild(root);
  database = await testDatabase();
  stub = await oidcStub();
  web = await start({ oidcIssuer: stub.issuer, oidcClientId: STUB_CLIENT.id, oidcClientSecret: STUB_CLIENT.secret, trustedProxies: ['127.0.0.0/8'] });
}, 300_000);
afterAll(async () => {
  await web?.close();
  await stub?.close();
});

let serial = 0;
async function person(): Promise<{ id: string; name: string }> {
  const { id, name } = (await createOperator(database.pool, `Eve ${serial++}`, 'operator'))!;
  await redeemSigninLink(database.pool, await createSigninLink(database.pool, id), null, { password: PASSWORD });
  return { id, name };
}

/** The form of the sign-in page, from an address of its own unless one is given. */
function post(fields: Record<string, string>, more: { path?: string; from?: string; at?: WebUnderTest; cookie?: string } = {}) {
  const { path = '/signin?index', from = `198.51.100.${serial++}`, at = web, cookie = '' } = more;
  return fetch(at.url + path, {
    method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers: { origin: HOME, accept: 'text/html', 'x-forwarded-for': from, cookie },
  });
}

const cookieIn = (response: Response, name = 'lb_session') => response.headers.getSetCookie().find((one) => one.startsWith(`${name}=`)) ?? '';

describe('name and password', () => {
  test('open a session with a cookie out of reach, and lead to the page that was asked for, here and nowhere else', async () => {
    const { name } = await person();
    for (const [wish, place] of [['/workers?show=all', '/workers?show=all'], ['//evil.example', '/'], ['https://evil.example', '/'], ['/\\evil.example', '/'], ['/signin/x', '/']]) {
      const response = await post({ name, password: PASSWORD }, { path: `/signin?index&returnTo=${encodeURIComponent(wish!)}` });
      expect([wish, response.status, response.headers.get('location')]).toEqual([wish, 302, place]);
      expect(cookieIn(response)).toMatch(/^lb_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });

  test('give a new session in place of the one that the browser came with', async () => {
    const { name } = await person();
    const { cookie, operatorId } = await signedIn(database);
    await post({ name, password: PASSWORD }, { cookie });
    expect((await database.pool.query('select 1 from operator_sessions where operator_id = $1 and revoked_at is null', [operatorId])).rowCount).toBe(0);
  });

  test('that are wrong get one answer whoever is meant, which says nothing back of what was typed', async () => {
    const { name } = await person();
    const pages = await Promise.all([['nobody-canary', PASSWORD], [name, 'canary wrong password'], ['', ''], ['canary\0', 'x']].map(([typed, password]) => post({ name: typed!, password: password! })));
    const texts = await Promise.all(pages.map((page) => page.text()));
    const bare = (html: string) => html.replace(/nonce="[^"]*"|'nonce-[^']*'/g, '');
    expect(pages.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    for (const text of texts) expect(bare(text)).toBe(bare(texts[0]!));
    expect(texts[0]).toContain('No account that may sign in has this name and this password');
    expect(texts.join('')).not.toContain('canary');
    for (const page of pages) expect([page.headers.get('cache-control'), cookieIn(page)]).toEqual(['no-store', '']);
  });

  test('are refused for a while after too many tries, with the time to wait, by every web process alike', async () => {
    const { name } = await person();
    const other = await start({ trustedProxies: ['127.0.0.0/8'] });
    for (let n = 0; n < signInLimits.account.burst; n++) expect((await post({ name, password: 'a wrong password' }, { at: n % 2 ? other : web })).status).toBe(401);
    for (const at of [web, other]) {
      const response = await post({ name, password: PASSWORD }, { at });
      const seconds = Number(response.headers.get('retry-after'));
      expect([response.status, seconds > 40 && seconds <= 60, cookieIn(response)]).toEqual([429, true, '']);
      expect(await response.text()).toContain(`Try again in ${seconds} s`);
    }
    await other.close();
  });

  test('are counted by the address of the connection unless the proxy in front is known', async () => {
    const open = await start({});
    for (let n = 0; n < signInLimits.address.burst; n++) await post({ name: `name ${n}`, password: 'x' }, { at: open, from: `203.0.113.${n}` });
    expect((await post({ name: 'one more', password: 'x' }, { at: open, from: '203.0.113.200' })).status).toBe(429);
    expect((await post({ name: 'one more', password: 'x' }, { from: '203.0.113.200' })).status).toBe(401);
    await open.close();
  });

  test('in a form without end are not read to the end', async () => {
    const response = await post({ name: 'x'.repeat(100_000), password: 'x' });
    expect(response.status).toBe(413);
  });
});

describe('a link', () => {
  test('sets a password on the way in; one that will not do leaves it whole', async () => {
    const operator = (await createOperator(database.pool, `Link ${serial++}`, 'viewer'))!;
    const path = `/signin/${await createSigninLink(database.pool, operator.id)}`;
    for (const [password, again] of [['short', 'short'], [PASSWORD, 'another']]) {
      const response = await post({ password: password!, again: again! }, { path });
      expect(response.status).toBe(422);
      expect(await response.text()).toMatch(/Nothing was changed/);
    }
    expect((await post({ password: PASSWORD, again: PASSWORD }, { path })).status).toBe(302);
    expect((await post({ name: operator.name, password: PASSWORD })).status).toBe(302);
  });
});

test('an address of the console that was set with a slash at its end is written before paths without it', async () => {
  const at = await start({ publicUrl: `${HOME}/` });
  const { cookie } = await signedIn(database, 'admin');
  const html = await (await fetch(`${at.url}/queues/parse-items`, { headers: { cookie, accept: 'text/html' } })).text();
  expect(html).toContain(`curl -sS ${HOME}/api/parse-sources`);
  await at.close();
});

describe('through the provider', () => {
  /** As a browser goes: to us, to the provider, and back to us with the cookie. */
  async function goRound(returnTo = '/workers', cookie?: string) {
    const leave = await fetch(`${web.url}/signin/oidc?returnTo=${encodeURIComponent(returnTo)}`, { redirect: 'manual', headers: { accept: 'text/html' } });
    const back = (await fetch(leave.headers.get('location')!, { redirect: 'manual' })).headers.get('location')!;
    const { pathname, search } = new URL(back);
    const sealed = cookie ?? cookieIn(leave, 'lb_oidc').split(';', 1)[0]!;
    return { leave, response: await fetch(web.url + pathname + search, { redirect: 'manual', headers: { accept: 'text/html', cookie: sealed, 'x-forwarded-for': `192.0.2.${serial++}` } }) };
  }

  test('the page offers it, and the round trip ends where the person wanted to go', async () => {
    stub.behave({});
    expect(await (await fetch(`${web.url}/signin?returnTo=%2Fworkers`)).text()).toMatch(/href="\/signin\/oidc\?returnTo=%2Fworkers"[^>]*>Sign in through/);
    const { leave, response } = await goRound();
    expect(cookieIn(leave, 'lb_oidc')).toMatch(/^lb_oidc=[\w-]+; Max-Age=600; Path=\/signin; HttpOnly; SameSite=Lax; Secure$/);
    expect([response.status, response.headers.get('location'), response.headers.get('cache-control')]).toEqual([302, '/workers', 'no-store']);
    expect(cookieIn(response, 'lb_oidc')).toMatch(/^lb_oidc=; Max-Age=0/);
    const page = await fetch(`${web.url}/settings/account`, { headers: { cookie: cookieIn(response).split(';', 1)[0]!, accept: 'text/html' } });
    expect(await page.text()).toMatch(/Olga Outside[\s\S]*operator[\s\S]*through/);
    expect((await goRound('https://evil.example')).response.headers.get('location')).toBe('/');
  });

  test('a refusal is a page with the provider\'s words as text, and no session', async () => {
    stub.behave({ refuses: { error: 'access_denied', error_description: '<img src=x onerror=alert(1)> not you' } });
    const { response } = await goRound();
    const html = await response.text();
    expect([response.status, cookieIn(response), cookieIn(response, 'lb_oidc').startsWith('lb_oidc=;')]).toEqual([403, '', true]);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt; not you');
    expect(html).not.toMatch(/<img src=x/);
    stub.behave({ claims: { roles: ['janitor'] } });
    expect(await (await goRound()).response.text()).toMatch(/has neither viewer, operator nor admin/);
    stub.behave({});
    expect(await (await goRound('/', 'lb_oidc=none')).response.text()).toMatch(/begun in another browser/);
  });
});
