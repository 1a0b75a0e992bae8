import type { ServerBuild } from '@remix-run/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataRedirect } from '../../server/http/data-redirect.js';
import { clientFiles } from '../../server/http/files.js';
import { loadBuild, pages } from '../../server/http/pages.js';
import { createOperator, createSigninLink } from '../../server/operations/accounts.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { requireBuiltConsole } from './built-console.js';
import { signedIn, startWeb, type WebUnderTest } from './web-under-test.js';

let database: TestDatabase;
let web: WebUnderTest;
let build: ServerBuild;

beforeAll(async () => {
  const root = await requireBuiltConsole();
  build = await loadBuild(root);
  database = await testDatabase();
  web = await startWeb(database, { parts: (world) => ({ files: clientFiles(root), pages: pages(world, build) }) });
}, 300_000);
afterAll(() => web.close());

/** The URL pattern of each route that answers something, parameters filled in. */
function paths(): string[] {
  const all = Object.values(build.routes).map((route) => {
    const above: string[] = [];
    for (let at: typeof route | undefined = route; at; at = at.parentId ? build.routes[at.parentId] : undefined) if (at.path) above.unshift(at.path);
    return `/${above.join('/')}`.replace('*', 'some/where').replace(/:queue/, 'parse-items').replace(/:\w+\??/g, 'x');
  });
  return [...new Set(all)];
}

const isOpen = (path: string) => ['/signin', '/signin/x', '/signin/oidc', '/signin/callback'].includes(path);

describe('every route of the console, by every method, without a session', () => {
  test('the manifest is known', () => {
    expect(paths()).toEqual(expect.arrayContaining(['/', '/signin', '/signin/x', '/workers', '/queues/parse-items']));
  });

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s answers nothing but the way to the sign-in page', async (method) => {
    for (const path of paths().filter((one) => !isOpen(one))) {
      for (const target of [path, path === '/' ? '/_root.data' : `${path}.data`, `${path}?_data=root`, `${path}?index`]) {
        const response = await fetch(web.url + target, { method, headers: { accept: 'text/html', origin: web.url, 'content-type': 'application/x-www-form-urlencoded' }, redirect: 'manual' });
        const text = await response.text();
        const toSignIn = response.status === 302 && response.headers.get('location')?.startsWith('/signin');
        expect([method, target, toSignIn || response.status === 401]).toEqual([method, target, true]);
        expect(text).not.toMatch(/asOf|loaderData/);
      }
    }
  });

  test('the sign-in pages show nothing of the console', async () => {
    for (const path of ['/signin', '/signin/oidc', '/signin/callback', '/signin/x', '/signin.data', '/signin/x.data', '/signin/x.data?_routes=routes%2F_console']) {
      const response = await fetch(web.url + path, { headers: { accept: 'text/html' } });
      expect(await response.text()).not.toMatch(/asOf|parse_items|leaseToken/);
    }
  });
});

test('a link signs in through its page: looking leaves it whole, the button uses it, a second press is told so', async () => {
  const operator = await createOperator(database.pool, 'grace', 'admin');
  const page = `${web.url}/signin/${await createSigninLink(database.pool, operator!.id)}`;
  for (let k = 0; k < 2; k++) expect(await (await fetch(page)).text()).toContain('grace');
  const press = () => fetch(page, { method: 'POST', headers: { origin: web.url, 'sec-fetch-site': 'same-origin' }, redirect: 'manual' });
  const presses = await Promise.all(Array.from({ length: 20 }, press));
  const through = presses.filter((response) => response.status === 302);
  expect(through).toHaveLength(1);
  expect(through[0]!.headers.get('location')).toBe('/');
  expect(through[0]!.headers.get('set-cookie')).toMatch(/^lb_session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
  const refused = presses.find((response) => response.status === 410)!;
  expect(await refused.text()).toContain('npx leaseboard signin-link');
});

test('after signing in, the way back is a page of this console or the first one', async () => {
  for (const [wish, place] of [['/workers', '/workers'], ['//evil.example', '/'], ['https://evil.example', '/'], ['/\\evil.example', '/']] as const) {
    const operator = await createOperator(database.pool, `way back ${wish}`, 'viewer');
    const link = await createSigninLink(database.pool, operator!.id);
    const response = await fetch(`${web.url}/signin/${link}?returnTo=${encodeURIComponent(wish)}`, { method: 'POST', headers: { origin: web.url }, redirect: 'manual' });
    expect(response.headers.get('location')).toBe(place);
  }
});

test('with a session the pages are served, with scripts under the nonce of their policy alone', async () => {
  const { cookie } = await signedIn(database, 'admin');
  for (const path of ['/', '/queues/parse-items', '/workers']) {
    const response = await fetch(web.url + path, { headers: { cookie, accept: 'text/html' } });
    const html = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    const nonce = /'nonce-([^']+)'/.exec(response.headers.get('content-security-policy')!)![1];
    const scripts = html.match(/<script[^>]*>/g) ?? [];
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.filter((script) => !script.includes(`nonce="${nonce}"`))).toEqual([]);
    expect(html).not.toMatch(/ on(click|load|error)=/);
  }
});

test('assets never change and need no session; what is not there is a plain 404', async () => {
  const { cookie } = await signedIn(database);
  const asset = /\/assets\/[\w.-]+\.(js|css)/.exec(await (await fetch(web.url, { headers: { cookie } })).text())![0];
  const response = await fetch(web.url + asset);
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
  expect((await fetch(`${web.url}/assets/none.js`)).status).toBe(404);
  expect((await fetch(`${web.url}/assets/..%2f..%2fapp%2findex.js`)).status).toBe(404);
});

test('our redirect of data requests is word for word what Remix itself would send', async () => {
  const { cookie } = await signedIn(database);
  const theirs = async (method: string) => (await fetch(`${web.url}/signout.data`, { method, headers: { cookie, origin: web.url } })).text();
  expect((await theirs('GET')).trim()).toBe(dataRedirect('/', { action: false, reload: false }).trim());
  expect((await theirs('POST')).trim()).toBe(dataRedirect('/signin', { action: true, reload: false, revalidate: true }).trim());
});
