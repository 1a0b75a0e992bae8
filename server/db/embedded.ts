/**
 * Our own Postgres, for machines that have none. Web, worker, command line and tests may all call `ensureEmbedded` at once: the first
 * starts a detached server under a lock file, the others adopt it. Crash behaviour: a half-finished initdb is thrown away (it becomes the
 * cluster only by a rename), a stale lock is taken over, a killed server recovers.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { acquireFileLock } from '../file-lock.js';
import type { Logger } from '../log.js';
import { connectionConfig } from './connection.js';
import { chooseOwner, runAs, type Owner } from './embedded-owner.js';
import { choosePlace } from './embedded-place.js';
import { startServer, stopServer, whoAnswers, type Cluster } from './embedded-server.js';
import { freePort, newPassword, readState, urlOf, writeState, type EmbeddedState } from './embedded-state.js';

export type Embedded = {
  url: string;
  /** Where the cluster lies. */
  directory: string;
  /** Fast shutdown; returns when the server is gone. Safe to call twice, and when others use the server: their sessions end. */
  stop(): Promise<void>;
};

/** The first start runs initdb (a second or two); others wait this long for it (ms). */
const LOCK_LIMIT_MS = 240_000;
const LOG_LIMIT_BYTES = 10_000_000;
const DATABASE = 'leaseboard';

/**
 * Starts the server of `dataDir` or adopts the one that runs. `settings` are server settings that count only if this call starts it.
 * Throws an error that says what to do, with the last lines of the server's log.
 */
export async function ensureEmbedded(options: { dataDir: string, log: Logger, settings?: Record<string, string> }): Promise<Embedded> {
  fs.mkdirSync(options.dataDir, { recursive: true });
  const dataDir = fs.realpathSync(options.dataDir);
  const adopted = await adopt(dataDir, options.log);
  if (adopted) return adopted;
  const release = await acquireFileLock(path.join(dataDir, 'postgres.lock'), {
    timeoutMs: LOCK_LIMIT_MS,
    onWait: holderPid => options.log.info({ event: 'embedded_wait', holderPid }, 'Another process is starting the embedded database'),
  });
  try {
    return await adopt(dataDir, options.log) ?? await start(dataDir, options.log, options.settings ?? {});
  } finally {
    release();
  }
}

/** The running server of `dataDir`, or undefined; never starts one. */
export async function findEmbedded(options: { dataDir: string, log: Logger }): Promise<Embedded | undefined> {
  return fs.existsSync(options.dataDir) ? adopt(fs.realpathSync(options.dataDir), options.log) : undefined;
}

async function adopt(dataDir: string, log: Logger): Promise<Embedded | undefined> {
  const state = readState(dataDir);
  if (!state?.root) return undefined;
  return await whoAnswers(state, clusterOf(state.root)) === 'ours' ? running(clusterOf(state.root), state, log) : undefined;
}

function running(dataDirectory: string, state: EmbeddedState, log: Logger): Embedded {
  return { url: urlOf(state, DATABASE), directory: dataDirectory, stop: () => stopServer(dataDirectory, state, log) };
}

const clusterOf = (root: string) => path.join(root, 'data');

async function start(dataDir: string, log: Logger, settings: Record<string, string>): Promise<Embedded> {
  const known = readState(dataDir);
  const owner = chooseOwner(known?.root ?? path.join(dataDir, 'postgres'));
  const place = await choosePlace(dataDir, known?.root, owner, log);
  const state = { port: known?.port ?? await freePort(), password: known?.password ?? newPassword(), root: place.root };
  const cluster: Cluster = { dataDirectory: clusterOf(place.root), bin: place.bin, logFile: logFile(dataDir), owner, settings };
  if (await whoAnswers(state, cluster.dataDirectory) === 'foreign') state.port = await freePort();
  writeState(dataDir, state);
  if (!fs.existsSync(cluster.dataDirectory)) await initialise(cluster, state, log);
  await startServer(cluster, state, log);
  await createDatabase(state);
  log.info({ event: 'embedded_started', port: state.port, directory: cluster.dataDirectory }, 'The embedded database runs');
  return running(cluster.dataDirectory, state, log);
}

function logFile(dataDir: string): string {
  const file = path.join(dataDir, 'postgres.log');
  if ((fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES) fs.renameSync(file, `${file}.1`);
  return file;
}

/** initdb into a name of its own, renamed when it is whole. What a crash left under such names goes first. */
async function initialise(cluster: Cluster, state: EmbeddedState, log: Logger): Promise<void> {
  const root = path.dirname(cluster.dataDirectory);
  for (const name of fs.readdirSync(root)) {
    if (/^(data|password)\.new-/.test(name)) fs.rmSync(path.join(root, name), { recursive: true, force: true });
  }
  log.info({ event: 'embedded_initialise', root, user: cluster.owner.name }, 'Setting up the embedded database');
  const draft = `${cluster.dataDirectory}.new-${randomUUID()}`;
  const passwordFile = writePasswordFile(root, state.password, cluster.owner);
  const made = await runAs(cluster.owner, path.join(cluster.bin, 'initdb'), [
    '-D', draft, '-U', 'leaseboard', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--data-checksums',
    ...cluster.settings.fsync === 'off' ? ['--no-sync'] : [],
  ]);
  fs.rmSync(passwordFile, { force: true });
  if (made.code !== 0) throw new Error(`Setting up the embedded database in ${root} failed (initdb, exit ${made.code}):\n${made.output.trim()}`);
  fs.renameSync(draft, cluster.dataDirectory);
}

function writePasswordFile(root: string, password: string, owner: Owner): string {
  const file = path.join(root, `password.new-${randomUUID()}`);
  fs.writeFileSync(file, password, { mode: 0o600 });
  if (owner.uid !== undefined && owner.gid !== undefined) fs.chownSync(file, owner.uid, owner.gid);
  return file;
}

async function createDatabase(state: EmbeddedState): Promise<void> {
  const client = new pg.Client(connectionConfig(urlOf(state, 'postgres'), { applicationName: 'leaseboard supervisor' }));
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}
