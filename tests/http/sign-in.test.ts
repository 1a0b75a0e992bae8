import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOperator, createSigninLink } from '../../server/operations/accounts.js';
import { localPath } from '../../server/operations/return-to.js';
import { clearedSessionCookie, sessionCookie, sessionFromCookies } from '../../server/operations/session-cookie.js';
import { linkRefusals, readSigninLink, redeemSigninLink } from '../../server/operations/sign-in.js';
import { dropTestDatabases, testDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });
afterAll(dropTestDatabases);

let serial = 0;
async function newLink(): Promise<{ secret: string; operatorId: string }> {
  const operator = await createOperator(database.pool, `ada ${serial++}`, 'admin');
  return { secret: await createSigninLink(database.pool, operator!.id), operatorId: operator!.id };
}

describe('a one-time sign-in link', () => {
  test('is not used by looking at it', async () => {
    const { secret } = await newLink();
    for (let k = 0; k < 3; k++) expect(await readSigninLink(database.pool, secret)).toMatchObject({ state: 'ready', operatorName: expect.stringMatching(/^ada/) });
    expect(await redeemSigninLink(database.pool, secret, 'test')).toMatchObject({ ok: true });
  });

  test('signs in exactly one of twenty who press at once', async () => {
    const { secret, operatorId } = await newLink();
    const pool = database.createPool({ max: 20 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeemSigninLink(pool, secret, 'test')));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    expect(answers.filter((answer) => !answer.ok).every((answer) => !answer.ok && answer.reason === 'used')).toBe(true);
    const { rows } = await database.pool.query('select count(*)::int as n from operator_sessions where operator_id = $1', [operatorId]);
    expect(rows).toEqual([{ n: 1 }]);
  });

  test.each([
    ['expired', 'update signin_links set expires_at = now() where operator_id = $1'],
    ['used', 'update signin_links set used_at = now() where operator_id = $1'],
    ['disabled', 'update operators set disabled_at = now() where id = $1'],
    ['unknown', 'delete from signin_links where operator_id = $1'],
  ] as const)('that is %s says so and what to do, and opens nothing', async (reason, statement) => {
    const { secret, operatorId } = await newLink();
    await database.pool.query(statement, [operatorId]);
    expect(await readSigninLink(database.pool, secret)).toEqual({ state: reason });
    expect(await redeemSigninLink(database.pool, secret, null)).toEqual({ ok: false, reason });
    expect(linkRefusals[reason]).toMatch(/leaseboard signin-link|admin/);
    expect((await database.pool.query('select 1 from operator_sessions where operator_id = $1', [operatorId])).rowCount).toBe(0);
  });

  test('leaves only hashes in the database, and no trace of hostile text', async () => {
    const { secret, operatorId } = await newLink();
    const redeemed = await redeemSigninLink(database.pool, secret, 'agent \0\uD800'.padEnd(1000, 'x'));
    const { rows } = await database.pool.query<{ all: string; user_agent: string }>('select s::text || l::text as all, s.user_agent from operator_sessions s, signin_links l where s.operator_id = $1 and l.operator_id = $1', [operatorId]);
    expect(rows[0]!.all).not.toContain(secret);
    expect(rows[0]!.all).not.toContain(redeemed.ok && redeemed.session);
    expect(rows[0]!.user_agent).toHaveLength(300);
  });
});

describe('the session cookie', () => {
  test('is out of reach of scripts, and secure where the console is', () => {
    expect(sessionCookie({ publicUrl: 'https://console.example' }, 'x')).toBe('lb_session=x; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax; Secure');
    expect(sessionCookie({ publicUrl: 'http://127.0.0.1:3000' }, 'x')).not.toContain('Secure');
    expect(clearedSessionCookie({})).toBe('lb_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax');
  });

  test('is found among others', () => {
    const secret = 'a-_Z'.repeat(11).slice(0, 43);
    expect(sessionFromCookies(`theme=dark; lb_session=${secret}; x=y`)).toBe(secret);
    expect(sessionFromCookies(`xlb_session=${secret}`)).toBeUndefined();
  });
});

describe('the way back after signing in', () => {
  test.each(['/queues/parse-items?state=failed&q=%2F', '/workers#top', '/a//b'])('%s is kept', (path) => {
    expect(localPath(path)).toBe(path);
  });

  test.each(['https://evil.example', '//evil.example', '/\\evil.example', '\\\\evil.example', '/\t/evil.example', '/..//evil.example', '/.//evil.example', 'javascript:alert(1)', 'evil.example', '', '/signin', '/signin/abc', '/signin.data', '/\n/evil.example', null, undefined])('%j becomes the first page', (wish) => {
    expect(localPath(wish)).toBe('/');
  });

  test('never leaves this console, whatever is asked for', () => {
    const origin = 'https://console.example';
    const hostile = fc.array(fc.constantFrom('/', '\\', '.', '..', '//', ':', '@', '%2f', '%5c', 'evil.example', 'http', 'javascript:', '\t', '\n', ' ', '?', '#', 'a'), { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(fc.property(fc.oneof(hostile, fc.string()), (wish) => new URL(localPath(wish), origin).origin === origin), { numRuns: 5000 });
  });
});
