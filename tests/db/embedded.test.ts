import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { keepEmbedded } from '../../server/db/embedded-keeper.js';
import { ensureEmbedded, findEmbedded } from '../../server/db/embedded.js';
import { createLogger } from '../../server/log.js';
import { startProcess } from '../support/processes.js';
import { until } from '../support/until.js';

const log = createLogger({ level: 'silent', name: 'test' });
const settings = { fsync: 'off' };
const folders: string[] = [];

function newFolder(): string {
  const dataDir = path.join(os.tmpdir(), `leaseboard-embedded-${randomBytes(6).toString('hex')}`);
  folders.push(dataDir);
  return dataDir;
}

async function ask<T extends object>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

const serverPid = (dataDir: string) => Number(fs.readFileSync(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);

afterEach(async () => {
  for (const dataDir of folders.splice(0)) {
    await (await findEmbedded({ dataDir, log }).catch(() => undefined))?.stop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
});

describe('the embedded database', () => {
  it('starts cold: UTF8, C, checksums, this machine alone, its password in a file for the owner alone', async () => {
    const dataDir = newFolder();
    const { url } = await ensureEmbedded({ dataDir, log, settings });
    const [row] = await ask(url, `select current_setting('server_encoding') as encoding, current_setting('data_checksums') as checksums,
      current_setting('listen_addresses') as listens, (select datcollate from pg_database where datname = current_database()) as collation`);
    expect(row).toEqual({ encoding: 'UTF8', checksums: 'on', listens: '127.0.0.1', collation: 'C' });
    expect(fs.statSync(path.join(dataDir, 'postgres.json')).mode & 0o777).toBe(0o600);
    expect(new URL(url).password.length).toBeGreaterThanOrEqual(32);
  });

  it('starts in a private folder too: it lets the server in, not everybody', async () => {
    const dataDir = newFolder();
    fs.mkdirSync(dataDir, { mode: 0o700 });
    const { url, directory } = await ensureEmbedded({ dataDir, log, settings });
    expect(directory.startsWith(dataDir)).toBe(true);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(fs.statSync(dataDir).mode & 0o066).toBe(0);
  });

  it('is started once when several processes want it at the same moment', async () => {
    const dataDir = newFolder();
    const program = path.resolve(import.meta.dirname, '../support/ensure-embedded.mjs');
    const started = [1, 2, 3].map(() => startProcess(program, { DATA_DIR: dataDir }));
    const urls = await Promise.all(started.map(async one => (await one.says(/URL (\S+)/, 60_000))[1]));
    expect(new Set(urls).size).toBe(1);
    expect((await Promise.all(started.map(one => one.ended))).map(end => end.code)).toEqual([0, 0, 0]);
    expect(await ask(urls[0]!, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('keeps data, port and password over a stop and a start, and stopping twice is safe', async () => {
    const dataDir = newFolder();
    const first = await ensureEmbedded({ dataDir, log, settings });
    await ask(first.url, 'create table kept (n int)');
    await first.stop();
    await first.stop();
    expect(await findEmbedded({ dataDir, log })).toBeUndefined();
    const second = await ensureEmbedded({ dataDir, log, settings });
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, 'select * from kept')).toEqual([]);
  });

  it('recovers after kill -9 of the server and of its starter', async () => {
    const dataDir = newFolder();
    const { url } = await ensureEmbedded({ dataDir, log });
    await ask(url, 'create table kept as select 7 as n');
    process.kill(serverPid(dataDir), 'SIGKILL');
    const again = await ensureEmbedded({ dataDir, log });
    expect(await ask(again.url, 'select n from kept')).toEqual([{ n: 7 }]);
  });

  it('is not fooled by a stale postmaster.pid whose number belongs to somebody else now', async () => {
    const dataDir = newFolder();
    await (await ensureEmbedded({ dataDir, log, settings })).stop();
    const stranger = spawn('sleep', ['60']);
    const pidFile = path.join(dataDir, 'postgres/data/postmaster.pid');
    fs.writeFileSync(pidFile, `${stranger.pid}\n${path.join(dataDir, 'postgres/data')}\n`);
    const owner = fs.statSync(path.join(dataDir, 'postgres/data'));
    fs.chownSync(pidFile, owner.uid, owner.gid);
    try {
      expect(await ask((await ensureEmbedded({ dataDir, log, settings })).url, 'select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      stranger.kill();
    }
  });

  it('throws away a half-finished initdb and the lock of a start that died', async () => {
    const dataDir = newFolder();
    fs.mkdirSync(path.join(dataDir, 'postgres/data.new-dead/base'), { recursive: true });
    fs.writeFileSync(path.join(dataDir, 'postgres/data.new-dead/PG_VERSION'), '17\n');
    const dead = spawn('true');
    await new Promise(resolve => dead.on('close', resolve));
    fs.writeFileSync(path.join(dataDir, 'postgres.lock'), JSON.stringify({ pid: dead.pid, started: '1', nonce: 'dead' }));
    await ensureEmbedded({ dataDir, log, settings });
    expect(fs.readdirSync(path.join(dataDir, 'postgres'))).toEqual(['data']);
    expect(fs.existsSync(path.join(dataDir, 'postgres.lock'))).toBe(false);
  });

  it('takes another port when a stranger listens on its own', async () => {
    const dataDir = newFolder();
    const other = await ensureEmbedded({ dataDir: newFolder(), log, settings });
    const first = await ensureEmbedded({ dataDir, log, settings });
    await first.stop();
    const state = path.join(dataDir, 'postgres.json');
    fs.writeFileSync(state, JSON.stringify({ ...JSON.parse(fs.readFileSync(state, 'utf8')), port: Number(new URL(other.url).port) }));
    const second = await ensureEmbedded({ dataDir, log, settings });
    expect(new URL(second.url).port).not.toBe(new URL(other.url).port);
    expect(await ask(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('says why it did not start, in the words of its own log', async () => {
    const dataDir = newFolder();
    await expect(ensureEmbedded({ dataDir, log, settings: { shared_buffers: 'plenty' } })).rejects.toThrow(/invalid value for parameter "shared_buffers"/);
    expect(await ask((await ensureEmbedded({ dataDir, log, settings })).url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is brought back by its keeper when the server is killed, and stays down when it is stopped', async () => {
    const dataDir = newFolder();
    const kept = await keepEmbedded({ dataDir, log });
    process.kill(serverPid(dataDir), 'SIGKILL');
    await until(() => ask(kept.url, 'select 1 as one').then(() => true, () => false), { what: 'the database answers again' });
    await kept.stop();
    expect(await findEmbedded({ dataDir, log })).toBeUndefined();
  });
});
