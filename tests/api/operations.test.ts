import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiToken, insertApiToken, newApiToken, type ApiScope } from '../../server/operations/accounts.js';
import { secretHash } from '../../server/operations/secret.js';
import { startWeb, type WebUnderTest } from '../http/web-under-test.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, sql } from '../support/factories.js';

let database: TestDatabase;
let web: WebUnderTest;
let operator: string;
let admin: string;

beforeAll(async () => {
  database = await testDatabase();
  web = await startWeb(database);
  operator = await tokenOf('night watch', ['act:operator']);
  admin = await tokenOf('runbook', ['act:admin']);
});
afterAll(() => web.close());

async function tokenOf(name: string, scopes: ApiScope[]): Promise<string> {
  const token = newApiToken();
  await insertApiToken(database.pool, { id: uuidv7(), name, sha256: secretHash(token), scopes, expiresInDays: null });
  return token;
}

async function call(action: string, body: unknown, token: string | null = operator, headers: Record<string, string> = {}, method = 'POST') {
  const response = await fetch(`${web.url}/api/operations/${action}`, {
    method, headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers }, ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, type: response.headers.get('content-type'), replayed: response.headers.get('idempotency-replayed'), body: await response.json() as Record<string, unknown> };
}

const stale = () => insertParseItem(database.pool, { state: 'running', lease_token: 7, worker_id: 'w-dead', heartbeat_at: sql(`now() - interval '5 minutes'`), lease_expires_at: sql(`now() - interval '3 minutes'`) });
const stateOf = async (id: string) => (await database.pool.query<{ state: string }>('select state from parse_items where id = $1', [id])).rows[0]!.state;

test('a script releases a stale lease and is named in the audit by its token', async () => {
  const item = await stale();
  const answer = await call('release', { queue: 'parse-items', id: item.id, token: '7', reason: 'runbook 4' });
  expect(answer).toMatchObject({ status: 200, body: { outcome: 'applied', code: null, text: expect.stringContaining('queued again'), now: { state: 'queued' } } });
  const { rows } = await database.pool.query('select actor_kind, actor_name, actor_role, via, reason, outcome from operator_actions where row_id = $1', [item.id]);
  expect(rows).toEqual([{ actor_kind: 'token', actor_name: 'night watch', actor_role: 'operator', via: 'api', reason: 'runbook 4', outcome: 'applied' }]);
});

test('a token of a product backend is refused, whatever it may do there, and so is no token', async () => {
  const item = await stale();
  const fields = { queue: 'parse-items', id: item.id, token: '7', reason: 'r' };
  const backend = (await createApiToken(database.pool, 'backend'))!;
  expect(await call('release', fields, backend)).toMatchObject({ status: 403, type: expect.stringContaining('problem+json'), body: { code: 'insufficient_scope', scope: 'act:operator' } });
  expect(await call('release', fields, null)).toMatchObject({ status: 401 });
  expect(await call('no-such', {}, backend)).toMatchObject({ status: 403 });
  expect(await stateOf(item.id)).toBe('running');
});

test('a script that acts may do nothing else', async () => {
  const response = await fetch(`${web.url}/api/parse-jobs/x`, { headers: { authorization: `Bearer ${admin}` } });
  expect(response.status).toBe(403);
});

test('an operator\'s script may not do what is an admin\'s; an admin\'s may do both, confirmed', async () => {
  const item = await insertParseItem(database.pool, { state: 'running', lease_token: 3 });
  const fields = { queue: 'parse-items', id: item.id, token: '3', reason: 'r' };
  expect(await call('force_release', fields)).toMatchObject({ status: 403, body: { code: 'not_allowed' } });
  expect(await call('force_release', fields, admin)).toMatchObject({ status: 400, body: { code: 'confirmation_mismatch', detail: expect.stringContaining(item.id.slice(-8)) } });
  expect(await call('release', fields, admin)).toMatchObject({ status: 409, body: { code: 'lease_valid' } });
  expect(await call('force_release', { ...fields, confirmation: item.id.slice(-8) }, admin)).toMatchObject({ status: 200 });
});

test('every refusal is a problem with the code of the action and what is true now', async () => {
  const live = await insertParseItem(database.pool, { state: 'running', lease_token: 3 });
  const fields = { queue: 'parse-items', id: live.id, token: '3', reason: 'r' };
  expect(await call('release', fields)).toMatchObject({ status: 409, type: expect.stringContaining('problem+json'), body: { code: 'lease_valid', type: 'urn:leaseboard:problem:lease_valid', detail: expect.stringContaining('valid for another'), now: { state: 'running', token: '3' } } });
  expect(await call('release', { ...fields, id: uuidv7() })).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await call('release', { ...fields, queue: 'parse_itms' })).toMatchObject({ status: 400, body: { code: 'invalid_input', detail: expect.stringContaining('there is no queue of this name') } });
  expect(await call('release', { ...fields, reason: undefined })).toMatchObject({ status: 400, body: { code: 'reason_required' } });
  expect(await call('release', [])).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  expect(await call('sudo', fields)).toMatchObject({ status: 404, body: { code: 'no_such_action', detail: expect.stringContaining('release, force_release') } });
  expect(await call('release', fields, operator, {}, 'GET')).toMatchObject({ status: 405 });
});

test('a call sent again with its key acts once; the key is of no use for another target', async () => {
  const [item, other] = [await stale(), await stale()];
  const key = { 'idempotency-key': 'runbook-4-step-2' };
  const fields = { queue: 'parse-items', id: item.id, token: '7', reason: 'r' };
  const first = await call('release', fields, operator, key);
  const second = await call('release', fields, operator, key);
  expect([first.status, first.replayed, second.status, second.replayed]).toEqual([200, null, 200, 'true']);
  expect(second.body).toEqual({ ...first.body, repeated: true });
  expect(await call('release', { ...fields, id: other.id }, operator, key)).toMatchObject({ status: 422, body: { code: 'attempt_reused' } });
  expect(await stateOf(other.id)).toBe('running');
  expect((await database.pool.query('select 1 from operator_actions where row_id = any ($1)', [[item.id, other.id]])).rowCount).toBe(1);
});

test('a read-only console refuses scripts too', async () => {
  const own = await startWeb(database, { config: { readOnly: true } });
  const item = await stale();
  const response = await fetch(`${own.url}/api/operations/release`, {
    method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${admin}` }, body: JSON.stringify({ queue: 'parse-items', id: item.id, token: '7', reason: 'r' }),
  });
  const body = await response.json() as { code: string };
  await own.close();
  expect([response.status, body.code]).toEqual([403, 'read_only']);
});
