/**
 * One embedded server process: who answers on the port, starting it detached (a Ctrl-C in the terminal must not reach it before the
 * workers have drained), stopping it. A server that was killed with everything else recovers at the next start by itself.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { isAlive } from '../file-lock.js';
import type { Logger } from '../log.js';
import { connectionConfig } from './connection.js';
import { errorCode } from './connection-errors.js';
import { serverEnvironment, type Owner } from './embedded-owner.js';
import { urlOf, type EmbeddedState } from './embedded-state.js';

export type Cluster = { dataDirectory: string, bin: string, logFile: string, owner: Owner, settings: Record<string, string> };

/** ours: it serves our data directory; starting: it says so itself; foreign: another server has the port; down: nobody answers. */
export type Answer = 'ours' | 'starting' | 'foreign' | 'down';

/** Crash recovery of a large log may take its time; the process must only stay alive. */
const START_LIMIT_MS = 180_000;
/** After this a fast shutdown becomes an immediate one (recovery at the next start). */
const STOP_LIMIT_MS = 30_000;
/** Backends of a killed postmaster keep its shared memory this long at most. */
const ORPHANS_LIMIT_MS = 20_000;
const LOG_LINES_IN_ERRORS = 15;

const baseSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
};

/** Who answers on the state's port. The data directory decides, not a pid: pids are reused. */
export async function whoAnswers(state: EmbeddedState, dataDirectory: string): Promise<Answer> {
  const client = new pg.Client({ ...connectionConfig(urlOf(state, 'postgres'), { applicationName: 'leaseboard supervisor' }), connectionTimeoutMillis: 3000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory === dataDirectory ? 'ours' : 'foreign';
  } catch (error) {
    const code = errorCode(error);
    if (code === '57P03') return 'starting';
    return /^(28|3D|42)/.test(code) ? 'foreign' : 'down';
  } finally {
    await client.end().catch(() => {});
  }
}

/** Starts the server and waits until it answers. Call it under the start lock, when nobody of ours answers. */
export async function startServer(cluster: Cluster, state: EmbeddedState, log: Logger): Promise<void> {
  await clearLeftovers(cluster, log);
  const deadline = performance.now() + ORPHANS_LIMIT_MS;
  for (;;) {
    const failure = await launch(cluster, state);
    if (failure === undefined) return;
    if (!/shared memory block .* is still in use/.test(failure) || performance.now() > deadline) {
      throw new Error(`The embedded database did not start. Its last words:\n${failure}\nThe whole log: ${cluster.logFile}`);
    }
    await pause(200);
  }
}

/** Undefined when it runs; else the last lines of its log. */
async function launch(cluster: Cluster, state: EmbeddedState): Promise<string | undefined> {
  const settings = Object.entries({ ...baseSettings, ...cluster.settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const logFd = fs.openSync(cluster.logFile, 'a', 0o600);
  const from = fs.fstatSync(logFd).size;
  const server = spawn(path.join(cluster.bin, 'postgres'), ['-D', cluster.dataDirectory, '-p', String(state.port), ...settings], {
    cwd: '/', env: serverEnvironment, uid: cluster.owner.uid, gid: cluster.owner.gid, detached: true, stdio: ['ignore', logFd, logFd],
  });
  fs.closeSync(logFd);
  let ended: string | undefined;
  server.on('error', error => { ended = error.message; });
  server.on('exit', (code, signal) => { ended = `exit ${code ?? signal}`; });
  server.unref();
  const deadline = performance.now() + START_LIMIT_MS;
  while (ended === undefined && performance.now() < deadline) {
    if (await whoAnswers(state, cluster.dataDirectory) === 'ours') return undefined;
    await pause(25);
  }
  return `${lastLines(cluster.logFile, from)}\n(${ended ?? `it did not answer within ${START_LIMIT_MS / 1000} s`})`;
}

/** A postmaster.pid of a dead server goes away (its pid may be somebody else's by now); one of ours that is still stopping is waited for. */
async function clearLeftovers(cluster: Cluster, log: Logger): Promise<void> {
  const deadline = performance.now() + STOP_LIMIT_MS;
  while (isOurServer(pidOf(cluster.dataDirectory), cluster.dataDirectory) && performance.now() < deadline) await pause(50);
  const pid = pidOf(cluster.dataDirectory);
  if (pid === undefined || isOurServer(pid, cluster.dataDirectory)) return;
  log.warn({ event: 'embedded_recovers', formerPid: pid }, 'The embedded database was not shut down; it recovers now');
  fs.rmSync(path.join(cluster.dataDirectory, 'postmaster.pid'), { force: true });
}

function pidOf(dataDirectory: string): number | undefined {
  try {
    return Number(fs.readFileSync(path.join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}

function isOurServer(pid: number | undefined, dataDirectory: string): boolean {
  if (pid === undefined || !isAlive(pid)) return false;
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dataDirectory);
  } catch {
    return process.platform !== 'linux';   // elsewhere an alive pid is believed; Postgres itself decides
  }
}

/** Fast shutdown: sessions are ended, a checkpoint is written. Returns when the server is gone; at once when it is not ours or not there. */
export async function stopServer(dataDirectory: string, state: EmbeddedState, log: Logger): Promise<void> {
  const pid = pidOf(dataDirectory);
  if (pid === undefined || await whoAnswers(state, dataDirectory) !== 'ours') return;
  process.kill(pid, 'SIGINT');
  if (await isGone(dataDirectory, STOP_LIMIT_MS)) return;
  log.warn({ event: 'embedded_stop_forced', serverPid: pid }, 'The embedded database did not stop in time; it is ended and recovers at the next start');
  process.kill(pid, 'SIGQUIT');
  await isGone(dataDirectory, 5000);
}

async function isGone(dataDirectory: string, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (pidOf(dataDirectory) !== undefined) {
    if (performance.now() > deadline) return false;
    await pause(20);
  }
  return true;
}

/** What a log file says after `from` bytes, its last lines. */
export function lastLines(file: string, from = 0): string {
  const text = fs.readFileSync(file).subarray(from).toString();
  return text.trimEnd().split('\n').slice(-LOG_LINES_IN_ERRORS).join('\n');
}
