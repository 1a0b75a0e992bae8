import { hash } from '@node-rs/argon2';
import { beforeAll, describe, expect, test } from 'vitest';
import { keepPassword, prepareOwnPassword } from '../../server/operations/account-password.js';
import { createOperator, createSigninLink } from '../../server/operations/accounts.js';
import { hashPassword, PASSWORD_MIN, passwordFault, verifyPassword } from '../../server/operations/password.js';
import { redeemSigninLink, signInWithPassword } from '../../server/operations/sign-in.js';
import { addressKey, forgiveAttempts, signInLimits, takeAttempt } from '../../server/operations/sign-in-limit.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });

const GOOD = 'correct horse battery staple';
let serial = 0;

/** An operator who has signed in with a link and set a password. */
async function person(password: string | undefined = GOOD) {
  const name = `Ada ${serial++}`;
  const operator = (await createOperator(database.pool, name, 'operator'))!;
  const redeemed = await redeemSigninLink(database.pool, await createSigninLink(database.pool, operator.id), 'test', { password });
  if (!redeemed.ok) throw new Error(redeemed.reason);
  return { ...operator, session: redeemed.session };
}

const attempt = (name: string, password: string, address = `10.0.0.${serial++}`) =>
  signInWithPassword(database.pool, { name, password, address, browser: { userAgent: 'test' } });
const sessionsOf = async (id: string) => (await database.pool.query('select id from operator_sessions where operator_id = $1 and revoked_at is null', [id])).rowCount;
const hashOf = async (id: string) => (await database.pool.query<{ h: string }>('select password_hash as h from operators where id = $1', [id])).rows[0]!.h;

describe('a password', () => {
  test('is kept as Argon2id with the parameters that OWASP names first, salted anew each time', async () => {
    const [one, two] = [await hashPassword(GOOD), await hashPassword(GOOD)];
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
    expect(await verifyPassword(one, GOOD)).toEqual({ ok: true, outdated: false });
    expect(await verifyPassword(one, `${GOOD} `)).toEqual({ ok: false, outdated: false });
  });

  test('is the same however its characters were composed', async () => {
    const kept = await hashPassword('caf\u00e9 \u212bngstr\u00f6m und Zimt');
    expect((await verifyPassword(kept, 'cafe\u0301 \u00c5ngstro\u0308m und Zimt')).ok).toBe(true);
  });

  test.each([
    ['too short', 'a'.repeat(PASSWORD_MIN - 1), /14 of at least 15/],
    ['endless', 'abcdefgh '.repeat(30), /more than 200/],
    ['a pattern', 'abcabcabcabcabcabc', /repeats/],
    ['the account\'s name', 'Grace Hopper Leaseboard', /little more than/],
    ['lone surrogates and NUL alone', '\ud800\0'.repeat(10), /repeats/],
  ])('that is %s is refused with what to do', (_what, password, fault) => {
    expect(passwordFault(password, 'Grace Hopper')).toMatch(fault);
    expect(passwordFault(password, 'Grace Hopper')).toMatch(/Nothing was changed\.$/);
  });

  test('of any kind of characters will do when it is long enough', () => {
    for (const password of [GOOD, 'ein ganz langer Satz', '一二三四五六七八九十甲乙丙丁戊', '123456789012345']) expect(passwordFault(password, 'Ada')).toBeNull();
  });
});

describe('signing in with a password', () => {
  test('opens a session, whatever the case of the name', async () => {
    const { name, id } = await person();
    const answer = await attempt(` ${name.toUpperCase()} `, GOOD);
    expect(answer).toMatchObject({ ok: true, session: expect.stringMatching(/^[\w-]{43}$/), operator: { id, role: 'operator' } });
    expect(await sessionsOf(id)).toBe(2);
  });

  test('ends the session that the browser had before, whoever it belonged to', async () => {
    const [before, after] = [await person(), await person()];
    await signInWithPassword(database.pool, { name: after.name, password: GOOD, address: '10.1.0.1', browser: { userAgent: null, session: before.session } });
    expect([await sessionsOf(before.id), await sessionsOf(after.id)]).toEqual([0, 2]);
  });

  test('is answered alike for an unknown name, a wrong password, no password, a disabled account and one from outside', async () => {
    const [known, disabled, bare, outside] = [await person(), await person(), (await createOperator(database.pool, 'No Password', 'viewer'))!, (await createOperator(database.pool, 'From Outside', 'viewer'))!];
    await database.pool.query('update operators set disabled_at = now() where id = $1', [disabled.id]);
    await database.pool.query(`update operators set oidc_issuer = 'https://id.example', oidc_subject = 'x' where id = $1`, [outside.id]);
    const answers = [
      await attempt('nobody at all', GOOD), await attempt(known.name, 'not the password at all'), await attempt(known.name, ''), await attempt(bare.name, GOOD),
      await attempt(disabled.name, GOOD), await attempt(outside.name, GOOD), await attempt('x\0\ud800', GOOD),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, reason: 'wrong' });
    expect(await sessionsOf(disabled.id)).toBe(1);
  });

  test('takes an unknown name as long as a known one', async () => {
    const { name } = await person();
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let round = 0; round < 15; round++) {
      for (const [kind, who] of [['known', name], ['unknown', `nobody ${round}`]] as const) {
        await database.pool.query('delete from signin_limits');
        const began = performance.now();
        await attempt(who, 'wrong password, quite wrong');
        times[kind].push(performance.now() - began);
      }
    }
    const median = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!;
    const ratio = median(times.unknown) / median(times.known);
    expect(ratio).toBeGreaterThan(0.6);   // without the work for nothing: below 0.3
    expect(ratio).toBeLessThan(1.7);
  });

  test('renews a hash that was made with other parameters, and only then', async () => {
    const { id, name } = await person();
    await attempt(name, GOOD);
    const kept = await hashOf(id);
    await attempt(name, GOOD);
    expect(await hashOf(id)).toBe(kept);
    await database.pool.query('update operators set password_hash = $2 where id = $1', [id, await hash(GOOD, { memoryCost: 8192, timeCost: 1, parallelism: 1 })]);
    expect(await attempt(name, GOOD)).toMatchObject({ ok: true });
    expect(await hashOf(id)).toMatch(/m=19456,t=2,p=1/);
    expect(await attempt(name, GOOD)).toMatchObject({ ok: true });
  });

  test('opens nothing when the account was disabled between reading the password and opening', async () => {
    const { id, name } = await person();
    const blocker = await database.pool.connect();
    await blocker.query('begin');
    await blocker.query('update operators set disabled_at = now() where id = $1', [id]);
    const answer = attempt(name, GOOD);
    await until(someoneWaits);
    await blocker.query('commit');
    blocker.release();
    expect(await answer).toMatchObject({ ok: false, reason: 'wrong' });
    expect(await sessionsOf(id)).toBe(1);
  });
});

const someoneWaits = async () => (await database.pool.query(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).rowCount! > 0;

describe('a password through a one-time link', () => {
  test('is set together with the sign-in, and ends every other session and link of the account', async () => {
    const { id, name } = await person();
    const [other, spare] = [await createSigninLink(database.pool, id), await createSigninLink(database.pool, id)];
    expect(await redeemSigninLink(database.pool, other, 'test', { password: 'another good long password' })).toMatchObject({ ok: true });
    expect(await sessionsOf(id)).toBe(1);
    expect(await attempt(name, GOOD)).toMatchObject({ ok: false, reason: 'wrong' });
    expect(await attempt(name, 'another good long password')).toMatchObject({ ok: true });
    expect(await redeemSigninLink(database.pool, spare, 'test')).toEqual({ ok: false, reason: 'revoked' });
  });

  test('that will not do leaves the link whole', async () => {
    const { id } = await person();
    const link = await createSigninLink(database.pool, id);
    expect(await redeemSigninLink(database.pool, link, 'test', { password: 'short' })).toMatchObject({ ok: false, reason: 'password' });
    expect(await redeemSigninLink(database.pool, link, 'test')).toMatchObject({ ok: true });
  });

  test('sets exactly one of ten that are pressed at once', async () => {
    const { id } = await person();
    const link = await createSigninLink(database.pool, id);
    const pool = database.createPool({ max: 10 });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => redeemSigninLink(pool, link, 'test', { password: `${GOOD} number ${n}` })));
    const won = answers.findIndex(({ ok }) => ok);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect((await verifyPassword(await hashOf(id), `${GOOD} number ${won}`)).ok).toBe(true);
    expect(await sessionsOf(id)).toBe(1);
  });

  test('is refused for an account that comes through a provider, by the database too', async () => {
    const { id } = (await createOperator(database.pool, 'Outside too', 'viewer'))!;
    await database.pool.query(`update operators set oidc_issuer = 'https://id.example', oidc_subject = 'y' where id = $1`, [id]);
    const link = await createSigninLink(database.pool, id);
    expect(await redeemSigninLink(database.pool, link, 'test', { password: GOOD })).toMatchObject({ ok: false, reason: 'password', fault: expect.stringContaining('provider') });
    await expect(database.pool.query(`update operators set password_hash = 'x', password_set_at = now() where id = $1`, [id])).rejects.toMatchObject({ constraint: 'operators_one_way_in' });
  });
});

describe('a password on the account page', () => {
  const sessionOf = async (id: string) => (await database.pool.query<{ id: string }>('select id from operator_sessions where operator_id = $1 and revoked_at is null', [id])).rows[0]!.id;

  test('needs the old one, keeps this session and ends the others', async () => {
    const { id, name } = await person();
    const sessionId = await sessionOf(id);
    await attempt(name, GOOD);
    const who = { operatorId: id, sessionId, new: 'something else entirely' };
    expect(await prepareOwnPassword(database.pool, { ...who, old: 'guess' })).toMatchObject({ ok: false, code: 'wrong_password' });
    const prepared = await prepareOwnPassword(database.pool, { ...who, old: GOOD });
    if (!prepared.ok) throw new Error(prepared.fault);
    expect(await keepPassword(database.pool, id, prepared.hash, { was: prepared.was, keepSession: sessionId })).toBe(1);
    expect(await sessionOf(id)).toBe(sessionId);
    expect(await sessionsOf(id)).toBe(1);
    // A second press with the same evidence finds another password.
    expect(await keepPassword(database.pool, id, prepared.hash, { was: prepared.was, keepSession: sessionId })).toBeUndefined();
  });

  test('can be a first one without an old one only soon after signing in', async () => {
    const { id } = (await createOperator(database.pool, 'First Password', 'viewer'))!;
    await redeemSigninLink(database.pool, await createSigninLink(database.pool, id), null);
    const who = { operatorId: id, sessionId: await sessionOf(id), old: '', new: GOOD };
    expect(await prepareOwnPassword(database.pool, who)).toMatchObject({ ok: true, was: null });
    await database.pool.query(`update operator_sessions set created_at = now() - interval '16 minutes' where operator_id = $1`, [id]);
    expect(await prepareOwnPassword(database.pool, who)).toMatchObject({ ok: false, code: 'not_fresh' });
  });
});

describe('the brake on guessing', () => {
  const { account, address } = signInLimits;

  test('lets an account be tried a few times, from wherever, then says when again, and lets no password through meanwhile', async () => {
    const { id, name } = await person();
    for (let n = 0; n < account.burst; n++) expect(await attempt(name, `wrong guess number ${n}`)).toMatchObject({ reason: 'wrong' });
    const refused = await attempt(name, GOOD);
    expect(refused).toEqual({ ok: false, reason: 'too_many', retryAfterSeconds: expect.any(Number) });
    expect(refused.ok === false && refused.reason === 'too_many' && refused.retryAfterSeconds).toBeGreaterThan(account.everySeconds - 10);
    expect(await attempt(name.toUpperCase(), GOOD)).toMatchObject({ reason: 'too_many' });
    expect(await redeemSigninLink(database.pool, await createSigninLink(database.pool, id), null)).toMatchObject({ ok: true });
    await database.pool.query(`update signin_limits set whole_at = whole_at - $1 * interval '1 second' where kind = 'account'`, [account.everySeconds]);
    expect(await attempt(name, GOOD)).toMatchObject({ ok: true });
    for (let n = 0; n < account.burst; n++) expect(await attempt(name, 'wrong again and again')).toMatchObject({ reason: 'wrong' });   // the success had cleared it
  });

  test('counts unknown names as well, and an address over all names', async () => {
    for (let n = 0; n < account.burst; n++) await attempt('nobody to be found', 'x');
    expect(await attempt('nobody to be found', 'x')).toMatchObject({ reason: 'too_many' });
    for (let n = 0; n < address.burst; n++) expect(await attempt(`name ${n}`, 'x', '192.0.2.7')).toMatchObject({ reason: 'wrong' });
    expect(await attempt('name of another', 'x', '192.0.2.7')).toMatchObject({ reason: 'too_many' });
    expect(await attempt('name of another', 'x', '192.0.2.8')).toMatchObject({ reason: 'wrong' });
  });

  test('counts a hundred at once in two processes like a hundred in a row', async () => {
    const pools = [database.createPool({ max: 10 }), database.createPool({ max: 10 })];
    const waits = await Promise.all(Array.from({ length: 100 }, (_, n) => takeAttempt(pools[n % 2]!, 'account', 'storm')));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(account.burst);
    expect(Math.max(...waits)).toBeLessThanOrEqual(account.everySeconds);
  });

  test('gives an address back the attempt that succeeded', async () => {
    const { name } = await person();
    for (let n = 0; n < address.burst + 3; n++) expect(await attempt(name, GOOD, '192.0.2.50')).toMatchObject({ ok: true });
  });

  test('keeps no row longer than it means something, and no name in any', async () => {
    await database.pool.query('delete from signin_limits');
    await takeAttempt(database.pool, 'account', 'my password in the wrong field');
    await database.pool.query(`update signin_limits set whole_at = now() - interval '1 second'`);
    await takeAttempt(database.pool, 'address', '192.0.2.9');
    const { rows } = await database.pool.query<{ kind: string; all: string }>('select kind, l::text as all from signin_limits l');
    expect(rows.map(({ kind }) => kind)).toEqual(['address']);
    expect(rows[0]!.all).not.toMatch(/192/);
    await forgiveAttempts(database.pool, 'nobody', 'nowhere');   // nothing to forgive is no error
  });

  test.each([
    ['192.0.2.1', '192.0.2.1'], ['::ffff:192.0.2.1', '192.0.2.1'], ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'], ['2001:0db8:0001:0002::6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'], ['::1', '0:0:0:0::/64'], ['fe80::1%eth0', 'fe80:0:0:0::/64'], ['', ''],
  ])('takes %j for %j', (ip, key) => {
    expect(addressKey(ip)).toBe(key);
  });
});
