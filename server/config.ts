import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings, type Environment, type SettingValues } from './settings.js';
import { settings } from './config-table.js';

/**
 * Everything the environment decides, parsed once by `loadConfig`. Durations are seconds, sizes bytes, unless the name says otherwise.
 * `databaseUrl` is empty while `embedded` is true and no database was started yet (see `withDatabase`).
 */
export type Config = SettingValues<typeof settings> & {
  databaseUrl: string;
  databaseDirectUrl: string;
  /** DATABASE_URL is unset: our own Postgres under `dataDir`. */
  embedded: boolean;
  rowsChannel: string;
  /** The label of this process; the host's name where WORKER_ID is unset. */
  workerId: string;
  projectRoot: string;
};

/** All faults of the environment at once; `faults` has one line each: name, what was expected, what was found. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  constructor(readonly faults: string[]) {
    super(`The environment has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:\n${faults.map(fault => `  ${fault}`).join('\n')}`);
  }
}

const here = path.dirname(fileURLToPath(import.meta.url));

/** The folder of package.json, both from server/ and from build/server/. */
function findProjectRoot(): string {
  const above = path.dirname(here);
  return path.basename(above) === 'build' ? path.dirname(above) : above;
}

/**
 * Parses the environment. Throws `ConfigError` that lists every fault. Blank means default.
 * SESSION_SECRET is needed by the web process alone, and only where the database is not our own.
 */
export function loadConfig(env: Environment, needs: { sessionSecret?: boolean } = {}): Config {
  const { values, faults } = readSettings(settings, env);
  const embedded = !values.databaseUrl;
  faults.push(...contradictions(values, embedded, needs.sessionSecret ?? false).filter(fault => !faults.some(told => nameOf(told) === nameOf(fault))));
  if (faults.length > 0) throw new ConfigError(faults);
  const projectRoot = findProjectRoot();
  return {
    ...values,
    databaseUrl: values.databaseUrl ?? '',
    databaseDirectUrl: values.databaseDirectUrl ?? values.databaseUrl ?? '',
    embedded,
    workerId: values.workerId ?? os.hostname(),
    rowsChannel: 'leaseboard_rows',
    projectRoot,
    dataDir: path.resolve(projectRoot, values.dataDir),
  };
}

/** What was given but cannot be read is not called missing as well. */
function nameOf(fault: string): string {
  return fault.slice(0, fault.indexOf(':'));
}

/** The same configuration, pointed at a database that was started by us. */
export function withDatabase(config: Config, url: string): Config {
  return { ...config, databaseUrl: url, databaseDirectUrl: url };
}

function contradictions(values: SettingValues<typeof settings>, embedded: boolean, sessionSecret: boolean): string[] {
  const faults: string[] = [];
  if (embedded && values.databaseDirectUrl) {
    faults.push('DATABASE_DIRECT_URL: expected DATABASE_URL to be set as well, found it unset');
  }
  if (!embedded && sessionSecret && !values.sessionSecret) {
    faults.push('SESSION_SECRET: expected 32 characters or more, for example of openssl rand -hex 32 (required with DATABASE_URL), found nothing');
  }
  if (values.heartbeatSeconds * 2 > values.leaseSeconds) {
    faults.push(`HEARTBEAT_SECONDS: expected at most half of LEASE_SECONDS (${values.leaseSeconds}), found ${values.heartbeatSeconds}`);
  }
  if (values.publishHeartbeatSeconds * 3 > values.publishDeadAfterSeconds) {
    faults.push(`PUBLISH_HEARTBEAT_SECONDS: expected at most a third of PUBLISH_DEAD_AFTER_SECONDS (${values.publishDeadAfterSeconds}), found ${values.publishHeartbeatSeconds}`);
  }
  if (values.maxUploadBytes < values.maxFileBytes) {
    faults.push(`MAX_UPLOAD_BYTES: expected at least MAX_FILE_BYTES (${values.maxFileBytes}), found ${values.maxUploadBytes}`);
  }
  faults.push(...providerFaults(values, sessionSecret));
  if (values.embeddingsBaseUrl && !values.embeddingsModel) {
    faults.push('EMBEDDINGS_MODEL: expected the name of a model (required with EMBEDDINGS_BASE_URL), found nothing');
  }
  if (values.llmBaseUrl && !values.llmModel) {
    faults.push('LLM_MODEL: expected the name of a model (required with LLM_BASE_URL), found nothing');
  }
  return faults;
}

/** The address is the web process's business alone. */
function providerFaults({ oidcIssuer, oidcClientId, oidcClientSecret, publicUrl }: SettingValues<typeof settings>, web: boolean): string[] {
  if (!oidcIssuer) return oidcClientId || oidcClientSecret ? ['OIDC_ISSUER: expected the provider\'s URL (required with OIDC_CLIENT_ID and OIDC_CLIENT_SECRET), found nothing'] : [];
  const faults: string[] = [];
  const { protocol, hostname } = new URL(oidcIssuer);
  if (protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)) faults.push(`OIDC_ISSUER: expected https (http is for a provider on this machine), found ${JSON.stringify(oidcIssuer)}`);
  if (!oidcClientId) faults.push('OIDC_CLIENT_ID: expected the id that the provider knows this console by (required with OIDC_ISSUER), found nothing');
  if (web && !publicUrl) faults.push('PUBLIC_URL: expected the console\'s address (required with OIDC_ISSUER: the provider sends people back there), found nothing');
  return faults;
}
