import type { ServerBuild } from '@remix-run/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientFiles } from '../../server/http/files.js';
import { openLive } from '../../server/http/live.js';
import { loadBuild, pages } from '../../server/http/pages.js';
import { actions } from '../../server/operations/actions.js';
import { insertParseItem, insertWorker } from '../support/factories.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { requireBuiltConsole } from './built-console.js';
import { signedIn, startWeb, type WebUnderTest } from './web-under-test.js';

const ROLES = ['viewer', 'operator', 'admin'] as const;
type Role = (typeof ROLES)[number];
/** The least role that is let through; `nobody`: the route has no such handler. */
type Least = Role | 'nobody';

/** What each route lets whom do. A route that is not here fails the suite: whoever adds one says here who may read it and who may act through it. */
const MATRIX: Record<string, { path: string; reads: Least; acts: Least }> = {
  'routes/_console._index': { path: '/?index', reads: 'viewer', acts: 'nobody' },
  'routes/_console': { path: '/', reads: 'viewer', acts: 'nobody' },
  'routes/_console.$': { path: '/no/such/page', reads: 'viewer', acts: 'nobody' },
  'routes/_console.find': { path: '/find?q=x', reads: 'viewer', acts: 'nobody' },
  'routes/find.hits': { path: '/find/hits?q=x', reads: 'viewer', acts: 'nobody' },
  'routes/_console.queues._index': { path: '/queues', reads: 'viewer', acts: 'nobody' },
  'routes/_console.queues.$queue._index': { path: '/queues/parse-items', reads: 'viewer', acts: 'nobody' },
  'routes/_console.queues.$queue.$id': { path: '/queues/parse-items/:row', reads: 'viewer', acts: 'nobody' },
  'routes/queues.$queue.export': { path: '/queues/parse-items/export', reads: 'viewer', acts: 'nobody' },
  'routes/_console.reports._index': { path: '/reports', reads: 'viewer', acts: 'nobody' },
  'routes/_console.reports.$id': { path: '/reports/:row', reads: 'viewer', acts: 'nobody' },
  'routes/_console.sessions._index': { path: '/sessions', reads: 'viewer', acts: 'nobody' },
  'routes/_console.sessions.$id': { path: '/sessions/s-1', reads: 'viewer', acts: 'nobody' },
  'routes/_console.deployments._index': { path: '/deployments', reads: 'viewer', acts: 'nobody' },
  'routes/_console.deployments.$id': { path: '/deployments/:row', reads: 'viewer', acts: 'nobody' },
  'routes/_console.workers': { path: '/workers', reads: 'viewer', acts: 'nobody' },
  'routes/_console.audit': { path: '/audit', reads: 'viewer', acts: 'nobody' },
  'routes/audit.export': { path: '/audit/export', reads: 'viewer', acts: 'nobody' },
  'routes/exports.sessions': { path: '/exports/sessions', reads: 'viewer', acts: 'nobody' },
  'routes/exports.redeploys': { path: '/exports/redeploys', reads: 'viewer', acts: 'nobody' },
  'routes/audit.fresh': { path: '/audit/fresh', reads: 'viewer', acts: 'nobody' },
  // Its actions ask for their roles row by row, by the same door as the route of single ones; without a known action there is nothing to do.
  'routes/operations.bulk': { path: '/operations/bulk?queue=parse-items', reads: 'viewer', acts: 'nobody' },
  'routes/_console.redeploys._index': { path: '/redeploys', reads: 'viewer', acts: 'nobody' },
  'routes/_console.redeploys.$id': { path: '/redeploys/:row', reads: 'viewer', acts: 'nobody' },
  'routes/sessions.$id.rebuild': { path: '/sessions/s-1/rebuild', reads: 'nobody', acts: 'viewer' },
  'routes/_console.settings': { path: '/settings', reads: 'viewer', acts: 'nobody' },
  'routes/_console.settings._index': { path: '/settings?index', reads: 'viewer', acts: 'nobody' },
  'routes/_console.settings.account': { path: '/settings/account', reads: 'viewer', acts: 'viewer' },
  'routes/_console.settings.people': { path: '/settings/people', reads: 'admin', acts: 'admin' },
  'routes/_console.settings.sign-ins': { path: '/settings/sign-ins', reads: 'admin', acts: 'nobody' },
  'routes/_console.settings.tokens': { path: '/settings/tokens', reads: 'admin', acts: 'admin' },
  'routes/_console.settings.queues': { path: '/settings/queues', reads: 'operator', acts: 'nobody' },
  'routes/_console.settings.retention': { path: '/settings/retention', reads: 'operator', acts: 'nobody' },
  'routes/_console.settings.webhook': { path: '/settings/webhook', reads: 'operator', acts: 'nobody' },
  'routes/_console.settings.read-only': { path: '/settings/read-only', reads: 'operator', acts: 'nobody' },
  'routes/series': { path: '/series', reads: 'viewer', acts: 'nobody' },
  'routes/signout': { path: '/signout', reads: 'viewer', acts: 'viewer' },
};

/** Actions go through one route; each asks for its own role. */
const ACTION_ROUTE = 'routes/operations.$action';
/** Reachable without a session, and tested with it (tests/http/routes-without-session). */
const SIGN_IN = /^routes\/signin/;

let database: TestDatabase;
let web: WebUnderTest;
let build: ServerBuild;
let row: string;
let worker: string;
const cookies = {} as Record<Role, string>;

beforeAll(async () => {
  const root = await requireBuiltConsole();
  build = await loadBuild(root);
  database = await testDatabase();
  web = await startWeb(database, {
    parts(world) {
      const live = openLive(world);
      return { files: clientFiles(root), pages: pages(world, build), live: live.router, liveClients: live.clients };
    },
  });
  row = (await insertParseItem(database.pool)).id;
  worker = (await insertWorker(database.pool)).id;
}, 300_000);
afterAll(() => web.close());

const allowed = (role: Role, least: Least) => least !== 'nobody' && ROLES.indexOf(role) >= ROLES.indexOf(least);
const own = () => ({ origin: web.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' });

/** The page itself, and as the browser's script asks for it. */
function forms(path: string): string[] {
  const [at, query] = path.replace(':row', row).split('?') as [string, string | undefined];
  const data = `${at === '/' ? '/_root' : at}.data`;
  return [at, data].map((one) => (query === undefined ? one : `${one}?${query}`));
}

async function ask(method: string, path: string, role: Role, headers: Record<string, string> = {}, body?: URLSearchParams): Promise<{ status: number; text: string }> {
  cookies[role] ??= (await signedIn(database, role)).cookie;
  const response = await fetch(web.url + path, { method, headers: { cookie: cookies[role], accept: 'text/html', ...headers }, body, redirect: 'manual' });
  const text = await response.text();
  // Single fetch carries the status of a .data answer in its body as well as on the response.
  return { status: response.status, text };
}

test('every route of the console is in the matrix, and nothing else is', () => {
  const known = Object.keys(build.routes).filter((id) => id !== 'root' && !SIGN_IN.test(id)).sort();
  expect(known).toEqual([...Object.keys(MATRIX), ACTION_ROUTE].sort());
});

describe.each(ROLES)('as %s', (role) => {
  test('what may be read is read, and the rest is refused', async () => {
    const wrong: unknown[] = [];
    for (const [id, { path, reads }] of Object.entries(MATRIX).filter(([id]) => id !== 'routes/signout')) {
      for (const form of forms(path)) {
        const { status, text } = await ask('GET', form, role);
        const fine = allowed(role, reads) ? status < 500 && ![401, 403, 405].includes(status) : [403, ...(reads === 'nobody' ? [400, 404, 405] : [])].includes(status) || (reads === 'nobody' && form.includes('.data') && !/asOf|loaderData/.test(text));
        if (!fine) wrong.push([id, form, status]);
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s does nothing where nothing can be done, and is refused where the role may not', async (method) => {
    const wrong: unknown[] = [];
    for (const [id, { path, acts }] of Object.entries(MATRIX).filter(([id]) => id !== 'routes/signout')) {
      for (const form of forms(path)) {
        const { status, text } = await ask(method, form, role, own(), new URLSearchParams({ intent: 'nothing-of-this-name' }));
        const refused = acts === 'nobody' ? [404, 405].includes(status) || /SingleFetchClassInstance|405/.test(text) : status === 403 || /"?not_allowed|403/.test(text);
        const fine = allowed(role, acts) ? status < 500 && ![401, 403].includes(status) : refused;
        if (!fine) wrong.push([id, form, status, text.slice(0, 200)]);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('each action asks for its own role, whatever the page would show, and a refused one is recorded', async () => {
    const fields = { id: (await insertParseItem(database.pool)).id, token: '0', worker, userId: 'nobody', sessionId: 'none', report: row };
    for (const action of actions.filter((one) => !one.name.includes('account') && one.permission !== 'viewer')) {
      const before = (await database.pool.query('select count(*)::int as n from operator_actions where action = $1', [action.name])).rows[0].n as number;
      const { status, text } = await ask('POST', `/operations/${action.name}`, role, own(), new URLSearchParams({ ...fields, queue: action.name === 'clear_lock' ? 'deployments' : 'parse-items', reason: 'a matrix', confirmation: 'not what is asked for' }));
      const barred = !allowed(role, action.permission);
      expect([action.name, status === 403 || text.includes('not_allowed')]).toEqual([action.name, barred]);
      const after = (await database.pool.query('select count(*)::int as n from operator_actions where action = $1', [action.name])).rows[0].n as number;
      if (barred) expect([action.name, after - before]).toEqual([action.name, 1]);
    }
  });

  test('nothing is done for a request that comes from another site', async () => {
    const { id } = await insertParseItem(database.pool);
    const before = (await database.pool.query('select count(*)::int as n from operator_actions')).rows[0].n as number;
    for (const headers of [{ origin: 'https://evil.example' }, { origin: web.url, 'sec-fetch-site': 'cross-site' }, {}] as Record<string, string>[]) {
      for (const path of ['/operations/cancel', '/operations/cancel.data', '/signout', '/queues/parse-items']) {
        const { status } = await ask('POST', path, role, headers, new URLSearchParams({ queue: 'parse-items', id, reason: 'from elsewhere' }));
        expect([path, status]).toEqual([path, 403]);
      }
    }
    expect((await database.pool.query('select count(*)::int as n from operator_actions')).rows[0].n).toBe(before);
    expect((await database.pool.query('select state from parse_items where id = $1', [id])).rows).toEqual([{ state: 'queued' }]);
  });
});

test('every answer, of whatever kind, forbids frames, inline scripts and sniffing', async () => {
  cookies.viewer ??= (await signedIn(database, 'viewer')).cookie;
  const paths = ['/', '/_root.data', '/signin', '/no/such', '/assets/none.js', '/healthz', '/metrics', '/api/parse-jobs/x', '/api/none', '/queues/parse-items/export', '/series', '/live?topics=none', `/queues/parse-items/${row}`, '/find?q=%3Cscript%3E'];
  for (const path of paths) {
    for (const headers of [{}, { cookie: cookies.viewer }] as Record<string, string>[]) {
      const response = await fetch(web.url + path, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });
      await response.body?.cancel();
      const policy = response.headers.get('content-security-policy') ?? '';
      expect([path, /frame-ancestors 'none'/.test(policy), /script-src[^;]*'unsafe-inline'/.test(policy), response.headers.get('x-content-type-options')]).toEqual([path, true, false, 'nosniff']);
    }
  }
});

test('stored markup is text in every page, title and download', async () => {
  const evil = '"><img src=x onerror=alert(1)></title><script>alert(2)</script>';
  const { id, job_id: job } = await insertParseItem(database.pool, { filename: `${evil}.pdf`, user_id: evil, session_id: evil, state: 'failed', error_code: evil, error_message: evil });
  await insertWorker(database.pool, { label: evil, version: evil });
  for (const path of ['/', '/queues/parse-items', `/queues/parse-items/${id}`, `/queues/parse-jobs/${job}`, `/sessions/${encodeURIComponent(evil)}`, '/sessions', '/workers', `/find?q=${encodeURIComponent(evil)}`, `/queues/parse-items?user=${encodeURIComponent(evil)}`]) {
    const { status, text } = await ask('GET', path, 'admin');
    expect([path, status < 500]).toEqual([path, true]);
    expect([path, text.includes('<img src=x'), text.includes('<script>alert')]).toEqual([path, false, false]);
  }
});

test('an id that is another queue\'s, unknown or malformed is answered alike', async () => {
  const answers = [];
  for (const id of ['00000000-0000-7000-8000-000000000000', worker.replace(/^w-/, '')]) {
    const { status, text } = await ask('GET', `/queues/parse-jobs/${id}`, 'viewer');
    answers.push([status, text.includes('There is no parse job with this id')]);
  }
  expect(answers).toEqual([[404, true], [404, true]]);
});
