import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '../../server/config.js';
import { createOperator } from '../../server/operations/accounts.js';
import { signInFromProvider } from '../../server/operations/provider-account.js';
import { beginProviderSignIn, finishProviderSignIn, ProviderRefusal, TRANSACTION_SECONDS, type ProviderIdentity } from '../../server/operations/provider-sign-in.js';
import { seal, unseal } from '../../server/operations/sealed.js';
import { transactionFromCookies } from '../../server/operations/session-cookie.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { oidcStub, STUB_CLIENT, type Lies, type OidcStub } from '../support/oidc-stub.js';

let database: TestDatabase;
let stub: OidcStub;
let config: Config;

beforeAll(async () => {
  database = await testDatabase();
  stub = await oidcStub();
});
afterAll(() => stub.close());
/** A configuration of its own for each test: what was discovered is kept by it. */
beforeEach(() => {
  stub.behave({});
  config = database.config({ oidcIssuer: stub.issuer, oidcClientId: STUB_CLIENT.id, oidcClientSecret: STUB_CLIENT.secret, publicUrl: 'https://console.example/', sessionSecret: 'x'.repeat(40) });
});

/** To the provider and back, as a browser goes: answers the query of the return and the sealed cookie. */
async function roundTrip(lies: Lies = {}, returnTo = '/workers'): Promise<{ query: string; transaction: string }> {
  const { location, transaction } = await beginProviderSignIn(config, returnTo);
  stub.behave(lies);
  const back = (await fetch(location, { redirect: 'manual' })).headers.get('location')!;
  return { query: new URL(back).search.slice(1), transaction };
}

async function signIn(lies: Lies = {}) {
  const { query, transaction } = await roundTrip(lies);
  return finishProviderSignIn(config, query, transaction);
}

const refusedWith = (code: ProviderRefusal['code']) => expect.objectContaining({ name: 'ProviderRefusal', code });

describe('through the provider', () => {
  test('people go there with PKCE, state and nonce, and come back as who they are there', async () => {
    const { location, transaction } = await beginProviderSignIn(config, '/workers');
    const asked = new URL(location).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({ client_id: STUB_CLIENT.id, response_type: 'code', redirect_uri: 'https://console.example/signin/callback', code_challenge_method: 'S256' });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name)!.length).toBeGreaterThanOrEqual(43);
    for (const secret of [asked.get('state')!, asked.get('nonce')!, '/workers']) expect(transaction).not.toContain(secret);
    expect(await signIn()).toEqual({ identity: { issuer: stub.issuer, subject: 'person-1', name: 'Olga Outside', role: 'operator' }, returnTo: '/workers' });
    expect(stub.asked.at(-1)!.get('code_verifier')!.length).toBeGreaterThanOrEqual(43);
  });

  test.each<[string, unknown, string]>([
    ['a word', 'viewer', 'viewer'], ['a list', ['staff', 'viewer'], 'viewer'], ['several, of which the strongest counts', ['viewer', 'admin', 'operator'], 'admin'],
  ])('the role may be %s', async (_what, roles, role) => {
    expect((await signIn({ claims: { roles } })).identity.role).toBe(role);
  });

  test('the role claim may lie within an object, or have dots in its name', async () => {
    config = { ...config, oidcRoleClaim: 'realm_access.roles' };
    expect((await signIn({ claims: { realm_access: { roles: ['admin'] } } })).identity.role).toBe('admin');
    config = { ...config, oidcRoleClaim: 'https://console.example/roles' };
    expect((await signIn({ claims: { 'https://console.example/roles': ['viewer'] } })).identity.role).toBe('viewer');
    config = { ...config, oidcRoleClaim: '__proto__.roles' };
    await expect(signIn()).rejects.toEqual(refusedWith('no_role'));
  });

  test.each<[string, Lies, ProviderRefusal['code']]>([
    ['no role', { claims: { roles: null } }, 'no_role'],
    ['a role of its own', { claims: { roles: ['Administrator', 'ADMIN', 'superuser'] } }, 'no_role'],
    ['a role that is no text', { claims: { roles: { admin: true } } }, 'no_role'],
    ['another nonce', { claims: { nonce: 'other' } }, 'bad_answer'],
    ['no nonce', { claims: { nonce: null } }, 'bad_answer'],
    ['another audience', { claims: { aud: 'another-client' } }, 'bad_answer'],
    ['another issuer', { claims: { iss: 'https://evil.example' } }, 'bad_answer'],
    ['an expired token', { claims: { iat: 1_700_000_000, exp: 1_700_000_300 } }, 'bad_answer'],
    ['a token without subject', { claims: { sub: null } }, 'bad_answer'],
    ['a signature by an unknown key', { unknownKey: true }, 'bad_answer'],
    ['no signature', { unsigned: true }, 'bad_answer'],
    ['a refusal', { refuses: { error: 'access_denied', error_description: '<b>Not you</b>' } }, 'provider_error'],
    ['an error for the code', { tokenError: { status: 400, body: { error: 'invalid_grant', error_description: 'used up' } } }, 'provider_error'],
    ['an answer that is no answer', { tokenError: { status: 200, body: ['x'] } }, 'bad_answer'],
    ['a failure', { tokenError: { status: 503, body: {} } }, 'provider_unreachable'],
  ])('%s signs nobody in', async (_what, lies, code) => {
    await expect(signIn(lies)).rejects.toEqual(refusedWith(code));
  });

  test('what the provider says is told as its words, cut short, and the client secret never', async () => {
    const error = await signIn({ refuses: { error: 'access_denied', error_description: 'No entry today. '.repeat(60) } }).catch((thrown: ProviderRefusal) => thrown) as ProviderRefusal;
    expect(error.words).toMatch(/^The provider refused: “No entry today\. /);
    expect(error.words.length).toBeLessThan(450);
    expect(JSON.stringify([error.words, error.message, String(error.cause)])).not.toContain(STUB_CLIENT.secret);
  });

  test.each(['discovery', 'token', 'keys'] as const)('a provider whose %s never answers is given up, and asked anew the next time', { timeout: 40_000 }, async (hangs) => {
    if (hangs === 'discovery') {
      stub.behave({ hangs });
      await expect(beginProviderSignIn(config, '/')).rejects.toEqual(refusedWith('provider_unreachable'));
      stub.behave({});
    } else {
      await expect(signIn({ hangs })).rejects.toEqual(refusedWith('provider_unreachable'));
    }
    expect(await signIn()).toMatchObject({ returnTo: '/workers' });
  });

  test('a provider that is away, or is not the one that was meant, is said to be so', async () => {
    config = { ...config, oidcIssuer: 'http://127.0.0.1:1' };
    await expect(beginProviderSignIn(config, '/')).rejects.toEqual(refusedWith('provider_unreachable'));
    config = { ...config, oidcIssuer: stub.issuer };
    stub.behave({ metadataIssuer: 'https://evil.example' });
    await expect(beginProviderSignIn(config, '/')).rejects.toBeInstanceOf(ProviderRefusal);
  });
});

describe('a return without its own departure signs nobody in', () => {
  test('without the cookie, with another one, with another state, twice, or too late', async () => {
    const [mine, other] = [await roundTrip(), await roundTrip()];
    const asks = stub.asked.length;
    for (const transaction of [undefined, '', 'x'.repeat(200), other.transaction, seal('y'.repeat(40), 'oidc transaction', '{}'), seal(config.sessionSecret!, 'something else', '{}')]) {
      await expect(finishProviderSignIn(config, mine.query, transaction)).rejects.toEqual(refusedWith('no_transaction'));
    }
    expect(stub.asked.length).toBe(asks);   // the provider is not even asked
    await expect(finishProviderSignIn(config, 'error=access_denied&error_description=call+0800', mine.transaction)).rejects.toMatchObject({ code: 'no_transaction', words: expect.not.stringContaining('0800') });
    expect(await finishProviderSignIn(config, mine.query, mine.transaction)).toBeTruthy();
    await expect(finishProviderSignIn(config, mine.query, mine.transaction)).rejects.toEqual(refusedWith('provider_error'));
    const old = JSON.parse(unseal(config.sessionSecret!, 'oidc transaction', other.transaction)!) as { begun: number };
    const aged = seal(config.sessionSecret!, 'oidc transaction', JSON.stringify({ ...old, begun: old.begun - (TRANSACTION_SECONDS + 1) * 1000 }));
    await expect(finishProviderSignIn(config, other.query, aged)).rejects.toEqual(refusedWith('no_transaction'));
  });

  test('a seal opens whole or not at all', () => {
    const sealed = seal('k'.repeat(40), 'p', 'text');
    expect(unseal('k'.repeat(40), 'p', sealed)).toBe('text');
    const bytes = Buffer.from(sealed, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const broken = Buffer.from(bytes);
      broken[at]! ^= 1;
      expect(unseal('k'.repeat(40), 'p', broken.toString('base64url'))).toBeUndefined();
    }
    expect(transactionFromCookies(`a=b; lb_oidc=${sealed}; c=d`)).toBe(sealed);
    expect(transactionFromCookies(`xlb_oidc=${sealed}`)).toBeUndefined();
  });
});

describe('the account behind an identity', () => {
  const olga = (more: Partial<ProviderIdentity> = {}): ProviderIdentity => ({ issuer: 'https://id.example', subject: 'olga-1', name: 'Olga', role: 'operator', ...more });
  const enter = (identity: ProviderIdentity) => signInFromProvider(database.pool, identity, { userAgent: 'test' });
  const accounts = async (subject: string) => (await database.pool.query('select name, role from operators where oidc_subject = $1', [subject])).rows;
  const audit = async (id: string) => (await database.pool.query<{ action: string }>('select action, before, after from operator_actions where target_id = $1 order by id', [id])).rows;

  test('is made once, however many first sign-ins there are at once, and takes the role that the provider says each time', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => enter(olga())));
    expect(new Set(answers.map(({ operatorId }) => operatorId)).size).toBe(1);
    expect(await accounts('olga-1')).toEqual([{ name: 'Olga', role: 'operator' }]);
    await enter(olga({ role: 'viewer', name: 'Olga, married' }));
    expect(await accounts('olga-1')).toEqual([{ name: 'Olga', role: 'viewer' }]);
    expect((await audit(answers[0]!.operatorId)).map(({ action }) => action)).toEqual(['create_account', 'change_role']);
  });

  test('is never a local account of the same name, nor another issuer\'s subject', async () => {
    const local = (await createOperator(database.pool, 'Same Name', 'admin'))!;
    const answer = await enter(olga({ subject: 'same', name: 'same name', role: 'viewer' }));
    expect(answer).toMatchObject({ ok: true });
    expect(answer.operatorId).not.toBe(local.id);
    expect(await accounts('same')).toEqual([{ name: 'same name (2)', role: 'viewer' }]);
    const elsewhere = await enter(olga({ subject: 'same', issuer: 'https://other.example', role: 'admin' }));
    expect(elsewhere.operatorId).not.toBe(answer.operatorId);
    expect((await database.pool.query('select role from operators where id = $1', [local.id])).rows).toEqual([{ role: 'admin' }]);
  });

  test('stays shut when it is disabled here, whatever the provider says', async () => {
    const { operatorId } = await enter(olga({ subject: 'gone' }));
    await database.pool.query('update operators set disabled_at = now() where id = $1', [operatorId]);
    expect(await enter(olga({ subject: 'gone', role: 'admin' }))).toMatchObject({ ok: false, words: expect.stringContaining('disabled') });
    expect(await accounts('gone')).toEqual([{ name: expect.stringMatching(/^Olga/), role: 'operator' }]);
  });

  test('takes names of any kind', async () => {
    for (const [n, name] of ['\0\n', ' '.repeat(10), 'x'.repeat(1000), '\ud800'].entries()) expect(await enter(olga({ subject: `odd ${n}`, name }))).toMatchObject({ ok: true });
  });
});
