/**
 * What every process does first: read the environment, find or start the database, bring the schema up to date. Any number may boot at
 * once (see server/db/embedded.ts and server/db/migrate.ts).
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { loadConfig, withDatabase, type Config } from '../config.js';
import { applicationName } from '../db/connection.js';
import { ensureEmbedded, type Embedded } from '../db/embedded.js';
import { migrate, migrationsIn } from '../db/migrate.js';
import type { Environment } from '../settings.js';
import { createLogger, type Logger } from '../log.js';

export type Role = 'web' | 'worker' | 'migrate' | 'start' | 'cli';

export type Booted = {
  /** Complete: database URLs and session secret are filled in where they are our own. */
  config: Config;
  log: Logger;
  /** The embedded database, if that is what serves us. Whoever stops it takes it from everybody. */
  embedded?: Embedded;
};

/**
 * Throws `ConfigError`, `MigrationError` or an error of the embedded database; each says what to do. `logTo` 2 keeps stdout clean.
 */
export async function boot(role: Role, options: { logTo?: 1 | 2; env?: Environment } = {}): Promise<Booted> {
  const parsed = loadConfig(options.env ?? process.env, { sessionSecret: role === 'web' || role === 'start' });
  const log = createLogger({ level: parsed.logLevel, name: role, destination: options.logTo });
  const { config, embedded } = await withOwnDatabase(parsed, log);
  await migrate({
    directUrl: config.databaseDirectUrl,
    migrationsDir: migrationsIn(config.projectRoot),
    applicationName: applicationName(`${role}/migrate`, config.appVersion),
    log,
  });
  return { config, log, embedded };
}

async function withOwnDatabase(config: Config, log: Logger): Promise<{ config: Config; embedded?: Embedded }> {
  if (!config.embedded) return { config };
  const embedded = await ensureEmbedded({ dataDir: config.dataDir, log });
  return { config: { ...withDatabase(config, embedded.url), sessionSecret: config.sessionSecret ?? keptSecret(config.dataDir) }, embedded };
}

/** Generated once and kept, so that sessions outlive a restart. Two that start at once agree: the file is linked whole, first come. */
export function keptSecret(dataDir: string): string {
  const file = path.join(dataDir, 'session-secret');
  const draft = `${file}.${process.pid}`;
  if (!fs.existsSync(file)) {
    fs.writeFileSync(draft, randomBytes(32).toString('base64url'), { mode: 0o600 });
    try {
      fs.linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    fs.rmSync(draft, { force: true });
  }
  return fs.readFileSync(file, 'utf8').trim();
}
