import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { Config } from '../config.js';
import { readOnly } from '../console/read.js';
import { readWebhookState } from '../console/webhook-state.js';
import { applicationName, connectionConfig, connectDirect, errorCode } from '../db/connection.js';
import { createKysely } from '../db/kysely.js';
import { refusePooler, requireUtf8 } from '../db/migration-checks.js';
import { migrationsIn, pendingMigrations, schemaVersion } from '../db/migrate.js';
import type { Logger } from '../log.js';
import { instant } from './cli-session.js';

export type Finding = { ok: boolean; text: string };
/** `ends`: when it is bad, the checks after it cannot be made. */
export type Check = { name: string; ends?: boolean; look: () => Promise<Finding> };

/** Less free space than this and uploads, or the embedded database, will soon fail. */
const FREE_BYTES = 1_000_000_000;

/** The machine: Node, folders, space. */
export function placeChecks(config: Config): Check[] {
  return [
    { name: 'node', look: async () => ({ ok: true, text: process.version }) },
    { name: 'data folder', look: async () => dataFolder(config) },
    { name: 'disk', look: async () => disk(config) },
  ];
}

/** The database, and who works on it. */
export function databaseChecks(config: Config, pool: pg.Pool, log: Logger): Check[] {
  return [
    { name: 'database', ends: true, look: () => reachable(config, pool) },
    { name: 'encoding', look: () => withDirect(config, log, async client => {
      await requireUtf8(client);
      return { ok: true, text: 'UTF8' };
    }) },
    { name: 'direct URL', look: () => withDirect(config, log, client => direct(config, client)) },
    { name: 'listener', look: () => withDirect(config, log, client => listens(config, client)) },
    { name: 'schema', ends: true, look: () => schema(config, pool) },
    { name: 'workers', look: () => workers(pool) },
    { name: 'sweeper', look: () => sweeper(config, pool) },
    { name: 'webhook', look: () => webhook(config, pool) },
  ];
}

function dataFolder({ dataDir, embedded }: Config): Finding {
  if (!embedded) return { ok: true, text: 'not needed with DATABASE_URL' };
  const place = fs.existsSync(dataDir) ? dataDir : path.dirname(dataDir);
  try {
    fs.accessSync(place, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return { ok: true, text: dataDir };
  } catch {
    return { ok: false, text: `${place} cannot be written by this user; give it to the user who runs Leaseboard: chown -R $(id -un) ${place}` };
  }
}

function disk({ projectRoot }: Config): Finding {
  const { bavail, bsize } = fs.statfsSync(projectRoot);
  const free = bavail * bsize;
  const text = `${(free / 1e9).toFixed(1)} GB free`;
  return free > FREE_BYTES ? { ok: true, text } : { ok: false, text: `${text}; make room, uploads are staged in the database` };
}

async function reachable(config: Config, pool: pg.Pool): Promise<Finding> {
  const { rows } = await pool.query('select current_database() as name, version() as version').catch((error: Error) => {
    throw new Error(`${error.message || errorCode(error)}; check DATABASE_URL, and that this database runs`, { cause: error });
  });
  return { ok: true, text: `${rows[0].name}, ${String(rows[0].version).split(' ').slice(0, 2).join(' ')}, ${config.embedded ? 'embedded' : 'DATABASE_URL'}` };
}

async function direct(config: Config, client: pg.Client): Promise<Finding> {
  await refusePooler(client, async () => {
    const second = new pg.Client(connectionConfig(config.databaseDirectUrl, { applicationName: applicationName('doctor', config.appVersion) }));
    second.on('error', () => {});
    await second.connect();
    return second;
  });
  return { ok: true, text: 'keeps its backend, no transaction pooler' };
}

/** Listens, sends itself a word, and waits for it. */
async function listens({ kickChannel }: Config, client: pg.Client): Promise<Finding> {
  const channel = `${kickChannel}_doctor`.slice(-63);
  const heard = new Promise<boolean>(resolve => {
    client.once('notification', () => resolve(true));
    setTimeout(() => resolve(false), 3000);
  });
  await client.query(`listen ${channel}`);
  await client.query('select pg_notify($1, $2)', [channel, 'doctor']);
  return await heard
    ? { ok: true, text: 'a notification came back' }
    : { ok: false, text: 'a notification did not come back; DATABASE_DIRECT_URL must keep one session to the primary server' };
}

async function schema(config: Config, pool: pg.Pool): Promise<Finding> {
  const [version, pending] = [await schemaVersion(pool), await pendingMigrations(pool, migrationsIn(config.projectRoot))];
  if (pending.length === 0) return { ok: true, text: `${version}` };
  return { ok: false, text: `${pending.length} migrations are not applied (${pending.join(', ')}); run npm run migrate` };
}

async function workers(pool: pg.Pool): Promise<Finding> {
  const { rows } = await pool.query<{ role: string; n: number; versions: string }>(`
    select role, count(*)::int as n, string_agg(distinct version, ', ') as versions from workers
    where stopped_at is null and gone_at is null and heartbeat_at > now() - make_interval(secs => 3 * heartbeat_seconds::float8)
    group by role order by role desc`);
  const text = rows.map(row => `${row.n} ${row.role} (${row.versions})`).join(', ');
  return rows.some(row => row.role === 'worker')
    ? { ok: true, text }
    : { ok: false, text: `no worker has beaten lately${text ? ` (alive: ${text})` : ''}; start one with npm run worker` };
}

async function sweeper(config: Config, pool: pg.Pool): Promise<Finding> {
  const { rows } = await pool.query<{ age: number | null }>('select extract(epoch from now() - last_run_at)::float8 as age from sweeps');
  const age = rows[0]?.age;
  if (age === null || age === undefined) return { ok: false, text: 'has never run; start a worker with npm run worker' };
  const text = `ran ${Math.round(age)} s ago`;
  return age <= config.sweepSeconds * 3 ? { ok: true, text } : { ok: false, text: `${text}; start a worker, or run npx leaseboard sweep` };
}

async function webhook({ webhookUrl }: Config, pool: pg.Pool): Promise<Finding> {
  if (!webhookUrl) return { ok: true, text: 'not configured; set WEBHOOK_URL to be told what begins to need attention' };
  const { host, failingSince, trouble, lastSentAt, lastFailureAt, waiting } = await readOnly(createKysely(pool), reader => readWebhookState(reader, webhookUrl));
  const last = lastSentAt === null ? 'nothing was sent yet' : `last took a message at ${instant(lastSentAt)}`;
  if (failingSince !== null) {
    return { ok: false, text: `${host} has not taken messages since ${instant(failingSince)} (it ${trouble}); ${last}; ${waiting} waiting; check WEBHOOK_URL and its receiver, then npx leaseboard webhook test` };
  }
  return { ok: true, text: `${host}, ${last}${lastFailureAt === null ? '' : `, last failed at ${instant(lastFailureAt)}`}; try it with npx leaseboard webhook test` };
}

async function withDirect(config: Config, log: Logger, look: (client: pg.Client) => Promise<Finding>): Promise<Finding> {
  const client = await connectDirect(config, { role: 'doctor', purpose: 'checks', log });
  try {
    return await look(client);
  } finally {
    await client.end();
  }
}
