import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOperator } from '../../server/operations/accounts.js';
import { verifyPassword } from '../../server/operations/password.js';
import { secretHash } from '../../server/operations/secret.js';
import { signedIn } from '../http/web-under-test.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, sql } from '../support/factories.js';
import { startProcess } from '../support/processes.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });

async function leaseboard(args: string[], env: Record<string, string> = { DATABASE_URL: database.url }, input?: string) {
  const run = startProcess('server/main/cli.js', env, { args, input });
  const { code } = await run.ended;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

describe('npx leaseboard', () => {
  it('tokens add prints only the token, of which the database keeps only the hash', async () => {
    const { code, stdout, stderr } = await leaseboard(['tokens', 'add', 'shop']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^lb_[\w-]{43}\n$/);
    const { rows } = await database.pool.query('select token_sha256 from api_tokens where name = $1', ['shop']);
    expect(rows).toEqual([{ token_sha256: secretHash(stdout.trim()) }]);
  });

  it('tokens: a name is live once; revoked, it can be used again; the list says so', async () => {
    await leaseboard(['tokens', 'add', 'twice']);
    const second = await leaseboard(['tokens', 'add', 'twice']);
    expect(second).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Revoke it first') });
    expect((await leaseboard(['tokens', 'revoke', 'twice'])).code).toBe(0);
    expect((await leaseboard(['tokens', 'add', 'twice'])).code).toBe(0);
    expect((await leaseboard(['tokens', 'list'])).stdout.split('\n').filter(line => line.startsWith('twice'))).toHaveLength(2);
    expect((await leaseboard(['tokens', 'revoke', 'nobody'])).code).toBe(1);
  });

  it('signin-link prints only a link that signs in an operator of the role, once', async () => {
    const { code, stdout } = await leaseboard(['signin-link', '--role', 'viewer'], { DATABASE_URL: database.url, PUBLIC_URL: 'https://board.example/' });
    expect(code).toBe(0);
    const [, secret = ''] = /^https:\/\/board\.example\/signin\/([\w-]{43})\n$/.exec(stdout) ?? [];
    const { rows } = await database.pool.query('select o.role, l.used_at from signin_links l join operators o on o.id = l.operator_id where token_sha256 = $1', [secretHash(secret)]);
    expect(rows).toEqual([{ role: 'viewer', used_at: null }]);
  });

  it('users: add, role, disable, enable, list', { timeout: 120_000 }, async () => {
    const added = await leaseboard(['users', 'add', 'Ann', '--role', 'operator'], { DATABASE_URL: database.url, PUBLIC_URL: 'https://board.example/' });
    const [, secret = ''] = /^Added Ann \(operator\)\.\nSign-in link, once, within a day: https:\/\/board\.example\/signin\/([\w-]{43})\n$/.exec(added.stdout) ?? [];
    expect((await database.pool.query('select o.name from signin_links l join operators o on o.id = l.operator_id where token_sha256 = $1', [secretHash(secret)])).rows).toEqual([{ name: 'Ann' }]);
    expect(await leaseboard(['users', 'add', 'ann', '--role', 'admin'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('There is an account called ann already') });
    expect((await leaseboard(['users', 'role', 'ANN', 'admin'])).stdout).toBe('Ann is now admin.\n');
    expect(await leaseboard(['users', 'role', 'Ann', 'admin'])).toMatchObject({ code: 1, stderr: expect.stringContaining('Ann is admin already') });
    await createOperator(database.pool, 'Second admin', 'admin');
    expect((await leaseboard(['users', 'disable', 'Ann'])).stdout).toBe('Ann is disabled.\n');
    expect((await leaseboard(['users', 'list'])).stdout).toMatch(/^Ann +admin +link +\S+Z +- +\S+Z$/m);
    expect((await leaseboard(['users', 'enable', 'Ann', '--reason', 'back from leave'])).stdout).toBe('Ann is enabled.\n');
    expect((await leaseboard(['users', 'disable', 'Bob'])).stderr).toContain('There is no operator called Bob');
    expect((await leaseboard(['users', 'add', 'Cid', '--role', 'king'])).code).toBe(1);
    const { rows } = await database.pool.query(`select action, outcome, reason from operator_actions where actor_kind = 'cli' and via = 'cli' and actor_name = 'cli' and (answer ~ 'Ann' or answer ~ ' ann ') order by id`);
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'create_account applied', 'create_signin_link applied', 'create_account refused', 'change_role applied', 'change_role refused', 'disable_account applied', 'enable_account applied',
    ]);
    expect(rows.at(-1)!.reason).toBe('back from leave');
  });

  it('the last admin can neither be disabled nor demoted', async () => {
    const own = await testDatabase();
    const env = { DATABASE_URL: own.url };
    await leaseboard(['users', 'add', 'Only', '--role', 'admin'], env);
    expect(await leaseboard(['users', 'disable', 'only'], env)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Only is the last admin') });
    expect(await leaseboard(['users', 'role', 'only', 'viewer'], env)).toMatchObject({ code: 1, stderr: expect.stringContaining('make somebody else an admin first') });
  });

  it('a password comes from standard input or a terminal, never from an argument, and is found nowhere', { timeout: 120_000 }, async () => {
    const env = { DATABASE_URL: database.url, LOG_LEVEL: 'trace' };
    const secret = 'canary-in-the-mine-4711';
    expect((await leaseboard(['users', 'add', 'Pat', '--role', 'viewer', '--password-stdin'], env, `${secret}\n`)).stdout).toBe('Added Pat (viewer).\n');
    expect(await leaseboard(['users', 'add', 'Weak', '--role', 'viewer', '--password-stdin'], env, 'short\n')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('5 of at least 15') });
    expect((await database.pool.query(`select 1 from operators where name = 'Weak'`)).rowCount).toBe(0);
    const set = await leaseboard(['users', 'password', 'pat', '--password-stdin'], env, `${secret}-2\n`);
    expect(set).toMatchObject({ code: 0, stdout: 'The password of Pat is set.\n' });
    expect(set.stderr).not.toContain(secret);
    expect(await leaseboard(['users', 'password', 'pat'], env)).toMatchObject({ code: 1, stderr: expect.stringContaining('--password-stdin') });
    expect(await leaseboard(['users', 'password', 'pat', '--password-stdin'], env, '')).toMatchObject({ code: 1, stderr: expect.stringContaining('found nothing') });
    const { rows } = await database.pool.query<{ hash: string }>(`select password_hash as hash from operators where name = 'Pat'`);
    expect((await verifyPassword(rows[0]!.hash, `${secret}-2`)).ok).toBe(true);
    const { rows: kept } = await database.pool.query<{ all: string }>(`select coalesce(string_agg(a::text, ' '), '') as all from operator_actions a`);
    expect(kept[0]!.all).not.toContain(secret);
  });

  it('tokens: scopes and expiry are chosen when one is made, and listed', async () => {
    expect((await leaseboard(['tokens', 'add', 'narrow', '--scope', 'api:read', '--expires-days', '30'])).stdout).toMatch(/^lb_[\w-]{43}\n$/);
    expect((await leaseboard(['tokens', 'list'])).stdout).toMatch(/^narrow +api:read +\S+Z +- +\S+Z +-$/m);
    expect(await leaseboard(['tokens', 'add', 'x', '--scope', 'api:everything'])).toMatchObject({ code: 1, stdout: '' });
    expect(await leaseboard(['tokens', 'add', 'x', '--expires-days', '0'])).toMatchObject({ code: 1, stdout: '' });
    const { rows } = await database.pool.query(`select scopes, expires_at > now() + interval '29 days' as later from api_tokens where name = 'narrow'`);
    expect(rows).toEqual([{ scopes: ['api:read'], later: true }]);
  });

  it('sessions: list and revoke, one or all of a person', { timeout: 120_000 }, async () => {
    const { operatorId } = await signedIn(database);
    const name = (await database.pool.query<{ name: string }>('select name from operators where id = $1', [operatorId])).rows[0]!.name;
    const line = new RegExp(`^(\\S{36})  ${name} +link +\\S+Z +\\S+Z +\\S+Z$`, 'm');
    const [, id = ''] = line.exec((await leaseboard(['sessions', 'list'])).stdout) ?? [];
    expect((await leaseboard(['sessions', 'revoke', id])).stdout).toBe(`Ended a session of ${name}.\n`);
    expect(await leaseboard(['sessions', 'revoke', id])).toMatchObject({ code: 1, stderr: expect.stringContaining('had ended already') });
    expect((await leaseboard(['sessions', 'list', '--all', '--user', name])).stdout).toMatch(/signed out$/m);
    expect(await leaseboard(['sessions', 'revoke', '--user', name])).toMatchObject({ code: 1, stderr: expect.stringContaining('no other open session') });
    for (const wrong of [['sessions', 'revoke'], ['sessions', 'revoke', 'nonsense']]) expect((await leaseboard(wrong)).code).toBe(1);
  });

  it('db-url prints only the connection string, or says that no database runs', async () => {
    expect((await leaseboard(['db-url'])).stdout).toBe(`${database.url}\n`);
    const nowhere = path.join(os.tmpdir(), `leaseboard-cli-${randomBytes(6).toString('hex')}`);
    expect(await leaseboard(['db-url'], { DATA_DIR: nowhere })).toEqual({ code: 1, stdout: '', stderr: 'No embedded database runs in this folder. Start it with npm start, or set DATABASE_URL.\n' });
    expect(fs.existsSync(nowhere)).toBe(false);
  });

  it('sweep takes back an expired lease and says so', async () => {
    const item = await insertParseItem(database.pool, { state: 'running', lease_expires_at: sql("now() - interval '1 second'") });
    expect((await leaseboard(['sweep'])).stdout).toMatch(/^Requeued 1, /);
    const { rows } = await database.pool.query('select state, lost_leases from parse_items where id = $1', [item.id]);
    expect(rows).toEqual([{ state: 'queued', lost_leases: 1 }]);
  });

  it('invariants: exit 0 when they hold, exit 1 and the rows when one is broken', async () => {
    const own = await testDatabase();
    expect(await leaseboard(['invariants'], { DATABASE_URL: own.url })).toMatchObject({ code: 0, stdout: 'Every invariant holds.\n' });
    const item = await insertParseItem(own.pool);
    await own.pool.query('update parse_jobs set open_children = 7, total_children = 7 where id = $1', [item.job_id]);
    const broken = await leaseboard(['invariants'], { DATABASE_URL: own.url });
    expect(broken.code).toBe(1);
    expect(broken.stdout).toContain(item.job_id);
  });

  it('doctor: a line a check, with what to do about the bad ones, and exit 1', async () => {
    const { code, stdout } = await leaseboard(['doctor']);
    expect(code).toBe(1);
    for (const name of ['node', 'database', 'encoding', 'direct URL', 'listener', 'schema']) expect(stdout).toMatch(new RegExp(`^ok   ${name} `, 'm'));
    expect(stdout).toMatch(/^bad {2}workers +no worker has beaten lately.*npm run worker$/m);
  });

  it('doctor names a database that cannot be reached', async () => {
    const { code, stdout } = await leaseboard(['doctor'], { DATABASE_URL: 'postgres://nobody:x@127.0.0.1:1/none' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^bad {2}database +.*ECONNREFUSED.*; check DATABASE_URL/m);
  });

  it('answers an unknown command with its help and exit 1', async () => {
    expect(await leaseboard(['launch'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining("unknown command 'launch'") });
  });
});
