import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { MigrationError } from './migration-error.js';

/** `concurrently`: its first line is `-- concurrently`; it runs outside a transaction, statement by statement. */
export type Migration = { name: string, sql: string, checksum: string, concurrently: boolean };

const fileName = /^\d{4}_[a-z0-9_]+\.sql$/;

/** All migrations of a folder in the order of their numbers. Names are `0001_one_reason.sql`; a number is used once. */
export function readMigrations(directory: string): Migration[] {
  const names = fs.readdirSync(directory).filter(name => name.endsWith('.sql')).sort();
  for (const [index, name] of names.entries()) {
    if (!fileName.test(name)) throw new MigrationError('bad_migration_file', `${name}: expected a name like 0007_one_reason.sql`);
    if (names[index - 1]?.slice(0, 4) === name.slice(0, 4)) throw new MigrationError('bad_migration_file', `${name}: its number is taken by ${names[index - 1]}`);
  }
  return names.map(name => readMigration(directory, name));
}

function readMigration(directory: string, name: string): Migration {
  const sql = fs.readFileSync(path.join(directory, name), 'utf8').replaceAll('\r\n', '\n');
  const checksum = createHash('sha256').update(sql).digest('hex');
  return { name, sql, checksum, concurrently: /^-- concurrently\b/.test(sql) };
}

/** The statements of a concurrent migration: each ends with `;` at the end of a line; comment lines are dropped. */
export function statementsOf(migration: Migration): string[] {
  const code = migration.sql.split('\n').filter(line => !line.trimStart().startsWith('--')).join('\n');
  return code.split(/;\s*(?:\n|$)/).map(statement => statement.trim()).filter(statement => statement !== '');
}
