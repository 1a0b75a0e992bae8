import type pg from 'pg';
import { loadConfig, withDatabase, type Config } from '../config.js';
import { createPool } from '../db/connection.js';
import { findEmbedded } from '../db/embedded.js';
import { createLogger, type Logger } from '../log.js';
import { boot } from './boot.js';

export type Session = { config: Config; log: Logger; pool: pg.Pool };

/**
 * Runs a command against the database, brought up to date first. An embedded database that did not run is stopped again afterwards, so
 * that a command leaves nothing behind.
 */
export async function withDatabaseUp(command: (session: Session) => Promise<void>): Promise<void> {
  const ranBefore = (await runningDatabase()) !== undefined;
  const { config, log, embedded } = await boot('cli', { logTo: 2, env: quietEnvironment() });
  const pool = createPool(config, { role: 'cli', log });
  try {
    await command({ config, log, pool });
  } finally {
    await pool.end();
    if (!ranBefore) await embedded?.stop();
  }
}

/** Warnings only, unless LOG_LEVEL asks for more. */
export function quietEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LOG_LEVEL: process.env.LOG_LEVEL?.trim() || 'warn' };
}

/** The configuration of the database that runs right now, embedded or external; undefined when the embedded one does not run. Starts nothing. */
export async function runningDatabase(): Promise<Config | undefined> {
  const config = loadConfig(process.env);
  if (!config.embedded) return config;
  const log = createLogger({ level: 'silent', name: 'cli', destination: 2 });
  const embedded = await findEmbedded({ dataDir: config.dataDir, log });
  return embedded && withDatabase(config, embedded.url);
}

/** An answer of the command. */
export function answer(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Rows as aligned columns. For no rows nothing on stdout, and `none` on stderr for whoever looks. */
export function answerTable(rows: Record<string, string>[], none?: string): void {
  if (rows.length === 0 && none) process.stderr.write(`${none}\n`);
  const names = Object.keys(rows[0] ?? {});
  const widths = names.map(name => Math.max(name.length, ...rows.map(row => row[name]?.length ?? 0)));
  const line = (cells: string[]) => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd();
  if (names.length > 0) answer([line(names), ...rows.map(row => line(names.map(name => row[name] ?? '')))].join('\n'));
}

/** Milliseconds since 1970 as text to the second. */
export function instant(at: number | null): string {
  return at === null ? '-' : new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
