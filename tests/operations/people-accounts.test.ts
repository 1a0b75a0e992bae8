import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import { changeOwnPassword, changeRole, createAccount, disableAccount, enableAccount, setAccountPassword } from '../../server/operations/account-actions.js';
import { createApiToken, createOperator, createSigninLink, type OperatorRole } from '../../server/operations/accounts.js';
import type { Actor, AnyAction } from '../../server/operations/action.js';
import { operate, type OperationsWorld } from '../../server/operations/operate.js';
import { createLink, revokeLink, revokeSession, signOutEverywhere } from '../../server/operations/session-actions.js';
import { openSession } from '../../server/operations/sessions.js';
import { redeemSigninLink } from '../../server/operations/sign-in.js';
import { createToken, revokeToken } from '../../server/operations/token-actions.js';
import { createLogger } from '../../server/log.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let world: OperationsWorld;
let root: Actor;
let serial = 0;

const worldOf = (pool: OperationsWorld['pool'], readOnly = false): OperationsWorld =>
  ({ pool, config: database.config({ readOnly }), hints: { changed: () => undefined }, log: createLogger({ level: 'silent', name: 'test' }) });

beforeAll(async () => {
  database = await testDatabase();
  world = worldOf(database.pool);
  root = actorOf(await person('admin'));
});

interface Made { id: string; name: string; role: OperatorRole }

async function person(role: OperatorRole): Promise<Made> {
  return (await createOperator(database.pool, `Person ${serial++}`, role))!;
}

const actorOf = ({ id, name, role }: Made): Actor => ({ kind: 'operator', id, name, role });
const act = (action: AnyAction, fields: unknown, actor = root, inWorld = world) => operate(inWorld, action, { actor, via: 'page', fields, reason: 'a test' });
const open = (id: string) => openSession(database.pool, id, 'password', { userAgent: 'test' });
const sessionsOf = async (id: string) => (await database.pool.query<{ id: string }>('select id from operator_sessions where operator_id = $1 and revoked_at is null order by created_at', [id])).rows.map((row) => row.id);
const audit = async (target: string) => (await database.pool.query('select action, outcome, refusal, actor_name from operator_actions where target_id = $1 order by id', [target])).rows;
const sha256 = () => randomBytes(32).toString('hex');

describe('an account', () => {
  test('is created once a name, case aside, and each try is on record', async () => {
    const [first, second] = [uuidv7(), uuidv7()];
    expect(await act(createAccount, { id: first, name: '  Zoë  ', role: 'viewer' })).toMatchObject({ outcome: 'applied', text: 'Created the account Zoë (viewer).' });
    expect(await act(createAccount, { id: second, name: 'zoë', role: 'admin' })).toMatchObject({ outcome: 'refused', code: 'name_taken' });
    expect(await audit(first)).toEqual([{ action: 'create_account', outcome: 'applied', refusal: null, actor_name: root.name }]);
    expect(await audit(second)).toEqual([expect.objectContaining({ outcome: 'refused', refusal: 'name_taken' })]);
    for (const name of ['', '   ', 'a\nb', 'x'.repeat(201)]) expect(await act(createAccount, { id: uuidv7(), name, role: 'viewer' })).toMatchObject({ code: 'invalid_input' });
  });

  test.each([['viewer'], ['operator']] as const)('is no business of a %s', async (role) => {
    const [they, other] = [await person(role), await person('viewer')];
    const tries: [AnyAction, object][] = [
      [createAccount, { id: uuidv7(), name: 'mine', role: 'admin' }], [changeRole, { id: they.id, role: 'admin', was: role }], [disableAccount, { id: other.id }], [enableAccount, { id: other.id }],
      [createLink, { id: root.id, linkId: uuidv7(), sha256: sha256() }], [createToken, { id: uuidv7(), name: 'mine', sha256: sha256(), scopes: ['api:read'], expiresInDays: null }],
    ];
    for (const [action, fields] of tries) expect(await act(action, fields, actorOf(they))).toMatchObject({ outcome: 'refused', code: 'not_allowed' });
    const { rows } = await database.pool.query('select role from operators where id = $1', [they.id]);
    expect(rows).toEqual([{ role }]);
  });

  test('changes its role from what was seen and not otherwise', async () => {
    const they = await person('viewer');
    expect(await act(changeRole, { id: they.id, role: 'operator', was: 'viewer' })).toMatchObject({ outcome: 'applied', text: `${they.name} is now operator, was viewer.` });
    expect(await act(changeRole, { id: they.id, role: 'operator', was: 'viewer' })).toMatchObject({ code: 'same_role' });
    expect(await act(changeRole, { id: they.id, role: 'admin', was: 'viewer' })).toMatchObject({ code: 'changed', text: expect.stringContaining('is operator by now') });
    expect(await act(changeRole, { id: uuidv7(), role: 'admin', was: 'viewer' })).toMatchObject({ code: 'not_found' });
    await database.pool.query(`update operators set oidc_issuer = 'https://id.example', oidc_subject = $2 where id = $1`, [they.id, they.id]);
    expect(await act(changeRole, { id: they.id, role: 'admin', was: 'operator' })).toMatchObject({ code: 'outside_account', text: expect.stringContaining('provider') });
  });

  test('that is disabled loses its sessions and links for good, and is enabled without them', async () => {
    const they = await person('operator');
    await open(they.id);
    const link = await createSigninLink(database.pool, they.id);
    expect(await act(disableAccount, { id: they.id })).toMatchObject({ outcome: 'applied', text: `Disabled ${they.name}; 1 of their sessions ended, 1 links were revoked.` });
    expect(await act(disableAccount, { id: they.id })).toMatchObject({ code: 'already_disabled' });
    expect(await open(they.id)).toBeUndefined();
    expect(await act(createLink, { id: they.id, linkId: uuidv7(), sha256: sha256() })).toMatchObject({ code: 'disabled' });
    expect(await act(enableAccount, { id: they.id })).toMatchObject({ outcome: 'applied' });
    expect(await act(enableAccount, { id: they.id })).toMatchObject({ code: 'already_enabled' });
    expect(await sessionsOf(they.id)).toEqual([]);
    expect(await redeemSigninLink(database.pool, link, null)).toEqual({ ok: false, reason: 'revoked' });
  });

  test('of the last admin is neither disabled nor demoted, also when two admins try it on each other at once', async () => {
    const own = await testDatabase();
    const there = worldOf(own.createPool({ max: 8 }));
    const make = async (name: string) => (await createOperator(own.pool, name, 'admin'))!;
    const disabled = await make('disabled admin');
    await own.pool.query('update operators set disabled_at = now() where id = $1', [disabled.id]);
    const [one, two] = [await make('one'), await make('two')];
    const admins = async () => (await own.pool.query(`select 1 from operators where role = 'admin' and disabled_at is null`)).rowCount;
    for (let round = 0; round < 20; round++) {
      await own.pool.query(`update operators set role = 'admin', disabled_at = null where id in ($1, $2)`, [one.id, two.id]);
      const answers = await Promise.all([
        act(changeRole, { id: two.id, role: 'viewer', was: 'admin' }, actorOf(one), there),
        round % 2 ? act(disableAccount, { id: one.id }, actorOf(two), there) : act(changeRole, { id: one.id, role: 'operator', was: 'admin' }, actorOf(two), there),
      ]);
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['applied', 'refused']);
      expect(answers.find(({ outcome }) => outcome === 'refused')).toMatchObject({ code: 'last_admin', text: expect.stringContaining('make somebody else an admin first') });
      expect(await admins()).toBe(1);
    }
    expect((await own.pool.query('select 1 from operator_actions')).rowCount).toBe(40);
  });
});

describe('a session', () => {
  test('is ended by its owner or an admin; to others it does not exist', async () => {
    const [they, stranger] = [await person('viewer'), await person('operator')];
    await open(they.id);
    await open(they.id);
    const [first, second] = await sessionsOf(they.id);
    const strange = await act(revokeSession, { id: first }, actorOf(stranger));
    const unknown = await act(revokeSession, { id: uuidv7() }, actorOf(stranger));
    expect(strange).toEqual(unknown);
    expect(strange).toMatchObject({ code: 'not_found' });
    expect(await act(revokeSession, { id: first }, actorOf(they))).toMatchObject({ outcome: 'applied' });
    expect(await act(revokeSession, { id: first }, actorOf(they))).toMatchObject({ code: 'already_ended' });
    expect(await act(revokeSession, { id: second })).toMatchObject({ outcome: 'applied', text: `Ended a session of ${they.name}.` });
    expect(await sessionsOf(they.id)).toEqual([]);
  });

  test('stays when its owner signs out everywhere else', async () => {
    const they = await person('viewer');
    for (let n = 0; n < 3; n++) await open(they.id);
    const [kept] = await sessionsOf(they.id);
    expect(await act(signOutEverywhere, { id: they.id, keep: kept }, actorOf(await person('operator')))).toMatchObject({ code: 'not_found' });
    expect(await act(signOutEverywhere, { id: they.id, keep: kept }, actorOf(they))).toMatchObject({ outcome: 'applied', text: `Signed ${they.name} out of 2 sessions.` });
    expect(await sessionsOf(they.id)).toEqual([kept]);
    expect(await act(signOutEverywhere, { id: they.id, keep: kept }, actorOf(they))).toMatchObject({ code: 'nothing_open' });
    expect(await act(signOutEverywhere, { id: they.id })).toMatchObject({ outcome: 'applied' });
  });
});

test('a link is made for a person, kept as a hash, and revoked unless it was used', async () => {
  const they = await person('viewer');
  const [linkId, hash] = [uuidv7(), sha256()];
  expect(await act(createLink, { id: they.id, linkId, sha256: hash })).toMatchObject({ outcome: 'applied' });
  const { rows } = await database.pool.query(`select encode(token_sha256, 'hex') as hash, created_by, expires_at - created_at = interval '24 hours' as day from signin_links where id = $1`, [linkId]);
  expect(rows).toEqual([{ hash, created_by: root.name, day: true }]);
  expect(await act(revokeLink, { id: linkId })).toMatchObject({ outcome: 'applied' });
  expect(await act(revokeLink, { id: linkId })).toMatchObject({ code: 'already_revoked' });
  await redeemSigninLink(database.pool, await createSigninLink(database.pool, they.id), null);
  const used = (await database.pool.query<{ id: string }>('select id from signin_links where operator_id = $1 and used_at is not null', [they.id])).rows[0]!;
  expect(await act(revokeLink, { id: used.id })).toMatchObject({ code: 'used' });
});

test('a token is made under a name that is free and for scopes that exist, and revoked once', async () => {
  const token = { id: uuidv7(), name: 'shop backend', sha256: sha256(), scopes: ['api:read', 'api:write', 'api:read'], expiresInDays: 90 };
  expect(await act(createToken, token)).toMatchObject({ outcome: 'applied', text: 'Made the API token shop backend (api:read api:write, for 90 days).' });
  expect(await act(createToken, { ...token, id: uuidv7(), sha256: sha256() })).toMatchObject({ code: 'name_taken' });
  for (const wrong of [{ scopes: [] }, { scopes: ['api:everything'] }, { expiresInDays: 0 }, { expiresInDays: 1e9 }, { sha256: 'secret' }]) expect(await act(createToken, { ...token, id: uuidv7(), ...wrong })).toMatchObject({ code: 'invalid_input' });
  expect(await act(revokeToken, { id: token.id })).toMatchObject({ outcome: 'applied' });
  expect(await act(revokeToken, { id: token.id })).toMatchObject({ code: 'already_revoked' });
  expect(await createApiToken(database.pool, 'shop backend')).toMatch(/^lb_/);
});

test('an own password is changed by its owner alone, another one on the command line alone, and neither is ever on record', async () => {
  const they = await person('viewer');
  await open(they.id);
  const [sessionId] = await sessionsOf(they.id);
  const own = { id: they.id, sessionId, old: '', new: 'canary password of mine' };
  expect(await act(changeOwnPassword, own)).toMatchObject({ code: 'not_found' });
  expect(await act(changeOwnPassword, own, actorOf(they))).toMatchObject({ outcome: 'applied' });
  expect(await act(changeOwnPassword, { ...own, old: 'canary of a guess' }, actorOf(they))).toMatchObject({ code: 'wrong_password' });
  expect(await act(changeOwnPassword, { ...own, old: own.new, new: 'canary' }, actorOf(they))).toMatchObject({ code: 'weak_password' });
  expect(await act(setAccountPassword, { id: they.id, password: 'canary password of another' })).toMatchObject({ code: 'command_line_only' });
  expect(await act(setAccountPassword, { id: they.id, password: 'canary password of another' }, { kind: 'cli', id: null, name: 'cli', role: 'admin' })).toMatchObject({ outcome: 'applied' });
  const { rows } = await database.pool.query<{ all: string }>(`select string_agg(a::text, ' ') as all from operator_actions a where target_id = $1`, [they.id]);
  expect(rows[0]!.all).toContain('command_line_only');
  expect(rows[0]!.all).not.toContain('canary');
});

test('nothing of it is possible on a page of a read-only console, and everything on the command line', async () => {
  const they = await person('viewer');
  const readOnly = worldOf(database.pool, true);
  expect(await act(disableAccount, { id: they.id }, root, readOnly)).toMatchObject({ outcome: 'refused', code: 'read_only' });
  expect(await act(disableAccount, { id: they.id }, { kind: 'cli', id: null, name: 'cli', role: 'admin' }, readOnly)).toMatchObject({ outcome: 'applied' });
});
