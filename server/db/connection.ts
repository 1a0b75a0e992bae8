/**
 * The one place where a connection to Postgres is configured: pool, listener, pump, locks and migrations alike.
 * Promises: TLS as the URL says; no startup parameter but the application name (a pooler refuses others); a lost connection is
 * logged and never ends the process; int8 and numeric stay strings, timestamptz becomes Date (milliseconds: never compare-and-set on it).
 */
import pg from 'pg';
import type { Config } from '../config.js';
import type { Logger } from '../log.js';
import { noteUnopened } from './connection-errors.js';

/** Waiting for a free or a new connection longer than this (ms) is an error: the pool is exhausted or the server is away. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Postgres cuts longer names. */
const MAX_NAME_BYTES = 63;

type Who = { role: string, log: Logger };
type Where = Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'databasePoolMax' | 'appVersion'>;

/** Notes the errors of its start, so that isConnectionError() knows them apart from those of a statement. */
class Client extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
    if (!callback) return super.connect().catch((error: unknown) => { noteUnopened(error); throw error; });
    super.connect((error: Error) => { noteUnopened(error); callback(error); });
  }
}

/** What pg needs to connect to `url`. `sslmode` has its libpq meaning (require: encrypted; verify-full: checked as well). */
export function connectionConfig(url: string, options: { applicationName: string }): pg.ClientConfig {
  const address = new URL(url);
  if (address.searchParams.has('sslmode')) address.searchParams.set('uselibpqcompat', 'true');
  return {
    connectionString: address.href,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/** `leaseboard <role> <version>`, as pg_stat_activity shows it. */
export function applicationName(role: string, version: string): string {
  return Buffer.from(`leaseboard ${role} ${version}`).subarray(0, MAX_NAME_BYTES).toString();
}

/** The shared connections of one process, through the pooled URL. End it with `pool.end()`. */
export function createPool(config: Where, who: Who): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(config.databaseUrl, { applicationName: applicationName(who.role, config.appVersion) }),
    Client,
    max: config.databasePoolMax,
    idleTimeoutMillis: 30_000,
  });
  pool.on('error', error => who.log.warn({ event: 'idle_connection_lost', error }, 'An idle database connection was lost; the pool opens another'));
  pool.on('connect', client => {
    // Idle clients are covered by the pool; without this a checked-out client's error event would end the process.
    client.on('error', error => who.log.debug({ event: 'connection_lost', error }, 'A database connection in use was lost'));
  });
  return pool;
}

/** One connection of its own through the direct URL: session state (LISTEN, advisory locks) is safe on it. End it with `client.end()`. */
export async function connectDirect(config: Where, who: Who & { purpose: string }): Promise<pg.Client> {
  const name = applicationName(`${who.role}/${who.purpose}`, config.appVersion);
  const client = new Client(connectionConfig(config.databaseDirectUrl, { applicationName: name }));
  client.on('error', error => who.log.warn({ event: 'direct_connection_lost', purpose: who.purpose, error }, 'A direct database connection was lost'));
  await client.connect();
  return client;
}

export { inTransaction } from './transaction.js';
export { errorCode, isConnectionError, isRetryable } from './connection-errors.js';
