import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { secretHash } from '../../server/operations/secret.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, sql } from '../support/factories.js';
import { startProcess } from '../support/processes.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });

async function leaseboard(args: string[], env: Record<string, string> = { DATABASE_URL: database.url }) {
  const run = startProcess('server/main/cli.js', env, { args });
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

  it('users: add, role, disable, list', async () => {
    expect((await leaseboard(['users', 'add', 'Ann', '--role', 'operator'])).stdout).toBe('Added Ann (operator).\n');
    expect((await leaseboard(['users', 'add', 'ann', '--role', 'admin'])).code).toBe(1);
    expect((await leaseboard(['users', 'role', 'ANN', 'admin'])).stdout).toBe('Ann is now admin.\n');
    expect((await leaseboard(['users', 'disable', 'Ann'])).stdout).toBe('Ann is disabled.\n');
    expect((await leaseboard(['users', 'list'])).stdout).toMatch(/^Ann +admin +\S+Z +\S+Z$/m);
    expect((await leaseboard(['users', 'disable', 'Bob'])).stderr).toContain('There is no operator called Bob');
    expect((await leaseboard(['users', 'add', 'Cid', '--role', 'king'])).code).toBe(1);
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
    expect(stdout).toMatch(/^bad {2}database +.*ECONNREFUSED/m);
  });

  it('answers an unknown command with its help and exit 1', async () => {
    expect(await leaseboard(['launch'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining("unknown command 'launch'") });
  });
});
