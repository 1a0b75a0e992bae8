/** The transaction pooler that stands before the pool: PgBouncer where it is installed, else our own. */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startTransactionPooler } from '../../tests/support/transaction-pooler.js';

export interface Pooler {
  by: string;
  port: number;
  /** As a restart of it: every client is cut off, and is let in again at once. */
  restart(): Promise<void>;
  /** Its backends end with it. Once stopped, stopping it again does nothing. */
  stop(): Promise<void>;
}

/** Backends that it holds at most: fewer than the pools together may ask for. */
const SIZE = 16;
const START_MS = 10_000;

export async function startPooler(databaseUrl: string, folder: string): Promise<Pooler> {
  const version = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' });
  if (version.status === 0) return startPgBouncer(databaseUrl, folder, version.stdout.split('\n')[0]!.trim());
  const own = await startTransactionPooler(databaseUrl, SIZE);
  return { by: `our own transaction pooler (PgBouncer is not in PATH), ${SIZE} backends`, port: Number(new URL(own.url).port), restart: async () => own.cut(), stop: () => own.stop() };
}

async function startPgBouncer(databaseUrl: string, folder: string, version: string): Promise<Pooler> {
  const port = await freePort();
  const home = path.join(folder, 'pgbouncer');
  fs.mkdirSync(home, { recursive: true });
  const { hostname, port: to, username, password, pathname } = new URL(databaseUrl);
  const name = pathname.slice(1);
  fs.writeFileSync(path.join(home, 'users.txt'), `"${username}" "${decodeURIComponent(password)}"\n`);
  fs.writeFileSync(path.join(home, 'pgbouncer.ini'), [
    '[databases]', `${name} = host=${hostname} port=${to} dbname=${name}`, '[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =',
    'auth_type = plain', `auth_file = ${home}/users.txt`, 'pool_mode = transaction', `default_pool_size = ${SIZE}`, 'max_client_conn = 300', 'server_connect_timeout = 5', 'server_login_retry = 1',
    `logfile = ${home}/log`, '',
  ].join('\n'));
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  if (user) for (const file of [folder, home, path.join(home, 'users.txt'), path.join(home, 'pgbouncer.ini')]) fs.chownSync(file, user.uid, user.gid);
  const start = async () => {
    const child = spawn('pgbouncer', ['-q', path.join(home, 'pgbouncer.ini')], { stdio: 'ignore', ...user });
    const until = performance.now() + START_MS;
    while (!await answers(port)) {
      if (child.exitCode !== null || performance.now() > until) throw new Error(`expected PgBouncer to start, got:\n${fs.readFileSync(path.join(home, 'log'), 'utf8').slice(-1_000)}`);
      await pause(50);
    }
    return child;
  };
  let child = await start();
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return {
    by: `${version}, transaction mode, ${SIZE} backends`, port, stop: end,
    async restart() {
      await end();
      child = await start();
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
