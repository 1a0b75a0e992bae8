import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { findEmbedded } from '../../server/db/embedded.js';
import { isAlive } from '../../server/file-lock.js';
import { createLogger } from '../../server/log.js';
import { startProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';

const log = createLogger({ level: 'silent', name: 'test' });
const ready = /Console {4}(\S+)\nSign in {4}(\S+)\nAPI token {2}(\S+)/;
const folders: string[] = [];

afterEach(async () => {
  for (const dataDir of folders.splice(0)) {
    await (await findEmbedded({ dataDir, log }).catch(() => undefined))?.stop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
});

function newFolder(): string {
  const dataDir = path.join(os.tmpdir(), `leaseboard-start-${randomBytes(6).toString('hex')}`);
  folders.push(dataDir);
  return dataDir;
}

type Up = { start: TestProcess; console: string; link: string; token: string; dataDir: string };

async function up(dataDir: string): Promise<Up> {
  const start = startProcess('server/main/start.js', { DATA_DIR: dataDir, PORT: '0', DRAIN_SECONDS: '5', INLINE_AFTER_SECONDS: '86400' });
  const [, console = '', link = '', token = ''] = await start.says(ready, 60_000);
  return { start, console, link, token, dataDir };
}

async function query<T extends object>(dataDir: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: (await findEmbedded({ dataDir, log }))?.url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Pids of the live processes that start made: from the registry, which is also how an operator would know. */
async function children(dataDir: string): Promise<Record<string, number>> {
  return until(async () => {
    const rows = await query<{ role: string; pid: number }>(dataDir, 'select role, pid from workers where stopped_at is null and gone_at is null');
    const alive = rows.filter(row => isAlive(row.pid));
    return alive.length === 2 && Object.fromEntries(alive.map(row => [row.role, row.pid]));
  }, { timeoutMs: 30_000, what: 'web and worker are registered' });
}

const serverPid = (dataDir: string) => Number(fs.readFileSync(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);

/** What the API says to a token: an unauthenticated call answers 401. */
async function statusWith(console: string, token: string): Promise<number> {
  const job = '01234567-89ab-7def-8123-456789abcdef';
  return (await fetch(`${console}/api/parse-jobs/${job}`, { headers: { authorization: `Bearer ${token}` } })).status;
}

describe('npm start', () => {
  it('prints how to get in, and what it prints works; SIGTERM stops everything in order, and the next start finds the data', async () => {
    const dataDir = newFolder();
    const first = await up(dataDir);
    expect((await fetch(`${first.console}/healthz`)).status).toBe(200);
    expect((await fetch(first.link, { redirect: 'manual' })).status).toBe(200);
    expect(first.token).toMatch(/^lb_[\w-]{43}$/);
    expect([await statusWith(first.console, first.token), await statusWith(first.console, `${first.token}x`)]).toEqual([404, 401]);
    const pids = Object.values(await children(dataDir));

    first.start.kill('SIGTERM');
    expect(await first.start.ended).toEqual({ code: 0, signal: null });
    expect(await findEmbedded({ dataDir, log })).toBeUndefined();
    expect(pids.filter(isAlive)).toEqual([]);

    const second = await up(dataDir);
    expect(await query(dataDir, 'select name, role from operators')).toEqual([{ name: 'admin', role: 'admin' }]);
    expect([await statusWith(second.console, second.token), await statusWith(second.console, first.token)]).toEqual([404, 401]);
    expect(await query(dataDir, `select count(*)::int as n from workers where stopped_at is not null`)).toEqual([{ n: 2 }]);
    second.start.kill('SIGINT');
    expect(await second.start.ended).toEqual({ code: 0, signal: null });
  }, 120_000);

  it('recovers by itself after kill -9 of everything', async () => {
    const dataDir = newFolder();
    const { start } = await up(dataDir);
    await query(dataDir, 'create table kept as select 7 as n');
    const pids = await children(dataDir);
    for (const pid of [start.pid, pids.web!, pids.worker!, serverPid(dataDir)]) process.kill(pid, 'SIGKILL');
    await start.ended;
    const again = await up(dataDir);
    expect(await query(dataDir, 'select n from kept')).toEqual([{ n: 7 }]);
    expect((await fetch(`${again.console}/healthz`)).status).toBe(200);
    again.start.kill('SIGTERM');
    await again.start.ended;
  }, 120_000);

  it('starts a killed web, worker or database again', async () => {
    const dataDir = newFolder();
    const { start, console } = await up(dataDir);
    const before = await children(dataDir);
    process.kill(serverPid(dataDir), 'SIGKILL');
    process.kill(before.web!, 'SIGKILL');
    process.kill(before.worker!, 'SIGKILL');
    await until(() => fetch(`${console}/readyz`).then(answer => answer.ok, () => false), { timeoutMs: 30_000, what: 'web is ready again' });
    const after = await until(() => children(dataDir).catch(() => undefined), { timeoutMs: 40_000 });
    expect([after.web, after.worker].filter(pid => Object.values(before).includes(pid!))).toEqual([]);
    start.kill('SIGTERM');
    expect((await start.ended).code).toBe(0);
  }, 120_000);

  it('says of a worker that somebody stopped in order that it starts it again, as a warning; a killed one is an error', async () => {
    const { start, dataDir } = await up(newFolder());
    const first = await children(dataDir);
    process.kill(first.worker!, 'SIGTERM');
    const [asked] = await start.says(/{.*"event":"child_ended".*}/, 30_000);
    expect(JSON.parse(asked!)).toMatchObject({ level: 'warn', child: 'worker', code: 0, signal: null, msg: expect.stringMatching(/^worker was asked to stop by somebody else and ended in order; it is started again in 0\.5 s\. To stop everything, end npm start itself/) });
    const second = await until(async () => {
      const now = await children(dataDir);
      return now.worker !== first.worker && now;
    }, { timeoutMs: 30_000, what: 'another worker' });
    expect(second.web).toBe(first.web);
    process.kill(second.worker!, 'SIGKILL');
    const [crashed] = await start.says(/{"level":"error".*"event":"child_ended".*}/, 30_000);
    expect(JSON.parse(crashed!)).toMatchObject({ child: 'worker', code: null, signal: 'SIGKILL', msg: expect.stringMatching(/^worker ended by itself \(SIGKILL\); it is started again in 1 s$/) });
    start.kill('SIGTERM');
    expect((await start.ended).code).toBe(0);
  }, 120_000);

  it('leaves no web and no worker behind when it alone is killed', async () => {
    const dataDir = newFolder();
    const { start } = await up(dataDir);
    const pids = Object.values(await children(dataDir));
    start.kill('SIGKILL');
    await until(() => !pids.some(isAlive), { timeoutMs: 30_000, what: 'web and worker end' });
    expect(await query(dataDir, `select count(*)::int as n from workers where stopped_at is not null`)).toEqual([{ n: 2 }]);
  }, 120_000);

  it('ends at once on a second signal, when a worker hangs in its drain, and leaves nothing behind', async () => {
    const dataDir = newFolder();
    const { start } = await up(dataDir);
    const pids = await children(dataDir);
    process.kill(pids.worker!, 'SIGSTOP');
    start.kill('SIGTERM');
    await start.says(/Stopping/);
    const asked = performance.now();
    await until(() => {
      start.kill('SIGTERM');
      return start.child.exitCode !== null;
    }, { what: 'start ends' });
    expect(performance.now() - asked).toBeLessThan(5000);
    expect(start.child.exitCode).toBe(1);
    await until(() => !Object.values(pids).some(isAlive), { what: 'web and worker are gone' });
    await until(async () => !await findEmbedded({ dataDir, log }), { what: 'the database is gone' });
  }, 120_000);

  it('says what to do when its port is taken, when it runs already, and when it is given what it does not know', async () => {
    const dataDir = newFolder();
    const taken = net.createServer();
    await new Promise<void>(resolve => { taken.listen(0, '127.0.0.1', resolve); });
    const { port } = taken.address() as net.AddressInfo;
    const refused = startProcess('server/main/start.js', { DATA_DIR: dataDir, PORT: String(port) });
    expect((await refused.ended).code).toBe(1);
    expect(refused.stderr()).toContain(`Port ${port} of 127.0.0.1 is taken by another program.`);
    taken.close();

    fs.mkdirSync(dataDir, { recursive: true });
    fs.writeFileSync(path.join(dataDir, 'a-file'), '');
    const shut = startProcess('server/main/start.js', { DATA_DIR: path.join(dataDir, 'a-file'), PORT: '0' });
    expect((await shut.ended).code).toBe(1);
    expect(shut.stderr()).toMatch(/^Cannot write in .*a-file \(E[A-Z]+\)\. Start as the user whom it belongs to/);

    const misspelt = startProcess('server/main/start.js', { DATA_DIR: dataDir }, { args: ['--demos'] });
    expect((await misspelt.ended).code).toBe(1);
    expect(misspelt.stderr()).toContain('npm start takes --demo and nothing else, found --demos.');

    const demo = startProcess('server/main/start.js', { DATA_DIR: dataDir, DATABASE_URL: 'postgres://somebody@127.0.0.1:1/real' }, { args: ['--demo'] });
    expect((await demo.ended).code).toBe(1);
    expect(demo.stderr()).toContain('Unset DATABASE_URL');

    const faulty = startProcess('server/main/start.js', { DATA_DIR: dataDir, PORT: 'x', LEASE_SECONDS: 'y' });
    expect((await faulty.ended).code).toBe(1);
    expect(faulty.stderr()).toMatch(/2 faults:\n {2}PORT: .*\n {2}LEASE_SECONDS: /);
    expect(fs.existsSync(path.join(dataDir, 'postgres'))).toBe(false);
  });
});
