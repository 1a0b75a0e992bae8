/**
 * `npm start`: everything on one machine. Starts our own Postgres when DATABASE_URL is unset, then web and worker as processes of their
 * own, and keeps them running. Stops in the opposite order: the worker drains, web closes, then Postgres. When this process is killed, its
 * children notice and drain by themselves, and the next start finds the database as it was left.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig, type Config } from '../config.js';
import { createPool } from '../db/connection.js';
import type { Embedded } from '../db/embedded.js';
import { keepEmbedded } from '../db/embedded-keeper.js';
import { startStubOrchestrator, type StubOrchestrator } from '../deployments/stub-orchestrator.js';
import { acquireFileLock } from '../file-lock.js';
import { createLogger, type Logger } from '../log.js';
import type { Environment } from '../settings.js';
import { boot } from './boot.js';
import { demoFolder, rollWorkers, startTraffic } from './demo.js';
import { consoleUrl, rememberConsole, signinLink, startToken } from './first-access.js';
import { runMain } from './run-main.js';
import { supervise, type Supervised } from './supervise.js';

/** On top of the drain before a child counts as stuck (ms). */
const DRAIN_SLACK_MS = 10_000;
const READY_MS = 60_000;
/** Repeats of a signal within this time (ms) are the same press: the terminal and npm both deliver Ctrl-C. */
const SAME_PRESS_MS = 1000;

/** What has to be taken down, in so far as it is up. */
type Running = { config: Config; log: Logger; embedded?: Embedded; stub?: StubOrchestrator; web?: Supervised; worker?: Supervised; traffic?: Supervised; demo: boolean; stopping: boolean };

await runMain(async () => {
  const demo = isDemo(process.argv.slice(2));
  if (demo) process.env.DATA_DIR = demoFolder(loadConfig(process.env));
  const config = loadConfig(process.env, { sessionSecret: true });
  await onlyOne(config);
  const env = { ...process.env, PORT: String(await freePort(config)), LOG_LEVEL: quietUnlessAsked(), APP_VERSION: versionOf(config) };
  const running: Running = { config, log: createLogger({ level: env.LOG_LEVEL, name: 'start' }), demo, stopping: false };
  const up = bringUp(running, env);
  stopOnRequest(running, up);
  await up.then(() => printAccess(running)).catch(async (error: unknown) => {
    if (running.stopping) return;
    await takeDown(running);
    throw error;
  });
});

async function bringUp(running: Running, env: Environment): Promise<void> {
  const { dataDir, embedded } = running.config;
  if (embedded) running.embedded = await keepEmbedded({ dataDir, log: running.log });
  running.config = (await boot('start', { env })).config;
  if (running.stopping) return;
  if (embedded && !running.config.orchestratorUrl) await bringStub(running);
  running.web = startChild('web', running);
  const { appVersion, demoRedeploySeconds, drainSeconds } = running.config;
  running.worker = running.demo
    ? rollWorkers((version) => startChild('worker', running, version), { appVersion, everyMs: demoRedeploySeconds * 1000, drainLimitMs: drainSeconds * 1000 + DRAIN_SLACK_MS })
    : startChild('worker', running);
}

/** With our own database and no hosting named, publishes go to a stub: it lives here, so that restarts of web and worker find their builds again. */
async function bringStub(running: Running): Promise<void> {
  running.stub = await startStubOrchestrator({ token: randomBytes(24).toString('base64url'), file: path.join(running.config.dataDir, 'stub-orchestrator.json') });
  running.config = { ...running.config, orchestratorUrl: running.stub.url, orchestratorToken: running.stub.token };
}

function isDemo(flags: string[]): boolean {
  const unknown = flags.filter(flag => flag !== '--demo');
  if (unknown.length > 0) throw new Error(`npm start takes --demo and nothing else, found ${unknown.join(' ')}. Settings are environment variables: see .env.example.`);
  return flags.length > 0;
}

function quietUnlessAsked(): string {
  return process.env.LOG_LEVEL?.trim() || 'warn';
}

/** A second start in the same folder would end by stopping the first one's database. */
async function onlyOne(config: Config): Promise<void> {
  const lock = path.join(config.dataDir, 'start.lock');
  const release = await lockIn(config.dataDir, lock).catch((error: NodeJS.ErrnoException) => {
    if (error.code) throw new Error(`Cannot write in ${config.dataDir} (${error.code}). Start as the user whom it belongs to, or give it to this one; after a start with sudo it belongs to root.`);
    throw new Error(`Leaseboard is running in this folder already (see ${lock}). Stop it with Ctrl-C where it runs, or use its console.`);
  });
  process.on('exit', release);
}

async function lockIn(dataDir: string, lock: string): Promise<() => void> {
  fs.mkdirSync(dataDir, { recursive: true });
  return acquireFileLock(lock, { timeoutMs: 500 });
}

/** The port to listen on: PORT, or any free one for 0. Taken or forbidden: an error that says what to do. */
function freePort(config: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'EADDRINUSE'
      ? new Error(`Port ${config.port} of ${config.host} is taken by another program. Stop that program, or choose another port: PORT=${config.port + 1} npm start`)
      : new Error(`Cannot listen on ${config.host}:${config.port} (${error.code}). Set HOST to an address of this machine and PORT to a port this user may open.`)));
    probe.listen(config.port, config.host, () => {
      const { port } = probe.address() as net.AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** The commit of a checkout stands in for an unset APP_VERSION, so that an update shows as a redeploy. */
function versionOf(config: Config): string {
  if (process.env.APP_VERSION?.trim()) return config.appVersion;
  try {
    return execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], { cwd: config.projectRoot, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 3000 }).trim();
  } catch {
    return config.appVersion;
  }
}

function startChild(name: 'web' | 'worker', { config, log }: Running, version = config.appVersion): Supervised {
  return supervise(name, path.join(config.projectRoot, 'build', 'server', 'main', `${name}.js`), {
    ...process.env,
    DATABASE_URL: config.databaseUrl,
    DATABASE_DIRECT_URL: config.databaseDirectUrl,
    SESSION_SECRET: config.sessionSecret,
    APP_VERSION: version,
    PORT: String(config.port),
    ...(config.orchestratorUrl ? { ORCHESTRATOR_URL: config.orchestratorUrl } : {}),
    ...(config.orchestratorToken ? { ORCHESTRATOR_TOKEN: config.orchestratorToken } : {}),
    LOG_LEVEL: config.logLevel,
    NODE_ENV: process.env.NODE_ENV === 'development' ? 'development' : 'production',
  }, log);
}

/** First signal: drain, close, stop the database. A second one: end at once, but leave no process of ours behind. */
function stopOnRequest(running: Running, up: Promise<void>): void {
  let since: number | undefined;
  let cutShort = false;
  const request = () => {
    if (since === undefined) {
      since = performance.now();
      running.stopping = true;
      // Cut short, the drain may still come to its end before those who cut it: it was not one.
      void up.catch(() => {}).then(() => takeDown(running)).then(() => process.exit(cutShort ? 1 : 0), () => process.exit(1));
    } else if (performance.now() - since > SAME_PRESS_MS) {
      cutShort = true;
      void endAtOnce(running);
    }
  };
  process.on('SIGINT', request);
  process.on('SIGTERM', request);
  process.on('SIGHUP', request);
  if (process.env.NODE_ENV === 'development') process.on('SIGUSR2', () => [running.worker, running.web].forEach(child => child?.restart()));
}

async function takeDown({ config, embedded, stub, web, worker, traffic }: Running): Promise<void> {
  await traffic?.stop(DRAIN_SLACK_MS);
  if (worker) say('\nStopping: the worker drains and gives its leases back …');
  await worker?.stop(config.drainSeconds * 1000 + DRAIN_SLACK_MS);
  await web?.stop(config.drainSeconds * 1000 + DRAIN_SLACK_MS);
  await stub?.close();
  await embedded?.stop();
  say(embedded ? 'Stopped; the database too.' : 'Stopped.');
}

async function endAtOnce({ embedded, web, worker, traffic }: Running): Promise<void> {
  traffic?.kill();
  worker?.kill();
  web?.kill();
  await Promise.race([embedded?.stop(), pause(3000)]).catch(() => {});
  process.exit(1);
}

async function printAccess(running: Running): Promise<void> {
  if (running.stopping) return;
  const { config, log, embedded, stub } = running;
  const pool = createPool(config, { role: 'start', log });
  rememberConsole(config);
  const session = { pool, config, log };
  const [link, token] = [await signinLink(session, 'admin', 'npm start', 'start'), await startToken(session, 'npm start', 'start')];
  await pool.end();
  const answers = await webAnswers(running);
  if (running.stopping) return;
  if (running.demo) running.traffic = startTraffic(config, addressOf(config), token, log);
  say([
    '',
    `Leaseboard ${config.appVersion}${answers ? '' : ' (web does not answer yet; its log says why)'}`,
    '',
    `Console    ${consoleUrl(config)}`,
    `Sign in    ${link}`,
    `API token  ${token}`,
    `Database   ${embedded ? `embedded, in ${shortPath(embedded.directory)}` : 'DATABASE_URL'}`,
    ...(running.demo ? [`Demo       invented people and papers, a redeploy every ${config.demoRedeploySeconds} s; for its commands: DATA_DIR=${shortPath(config.dataDir)} npx leaseboard …`] : []),
    ...(stub ? ['Publishes  to a stub: nothing is really built (set ORCHESTRATOR_URL for a real hosting)'] : []),
    '',
    'The link signs one admin in, once, within a day; npx leaseboard signin-link makes another.',
    'The token replaces the one of the last start. Ctrl-C stops everything; LOG_LEVEL=info shows every event.',
    '',
  ].join('\n'));
}

async function webAnswers(running: Running): Promise<boolean> {
  const { config, log } = running;
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline && !running.stopping) {
    const answer = await fetch(`${addressOf(config)}/healthz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    if (answer?.ok) return true;
    await pause(100);
  }
  if (!running.stopping) log.error({ event: 'web_silent' }, 'The web process does not answer');
  return false;
}

/** Of the console, from this machine. */
function addressOf({ host, port }: Config): string {
  return `http://${['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host}:${port}`;
}

/** From here, where that is inside. */
function shortPath(directory: string): string {
  const relative = path.relative(process.cwd(), directory);
  return relative.startsWith('..') ? directory : relative;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
