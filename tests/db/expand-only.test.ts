/**
 * "Version n-1 keeps running against schema n": what an older version reads and writes is there in every newer schema, and nothing that it does
 * not know is asked of its rows. Each migration is applied alone and the catalog before it compared with the one after.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../server/db/migrate.js';
import { readMigrations } from '../../server/db/migration-files.js';
import { createLogger } from '../../server/log.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

const realMigrations = path.resolve(import.meta.dirname, '../../sql/migrations');

/** Each was looked at: no statement of the version before depends on it. */
const KNOWN: Readonly<Record<string, string[]>> = {
  '0017_redeploys.sql': ["constraint new: workers CHECK ((role = ANY (ARRAY['web'::text, 'worker'::text, 'inline'::text])))"],   // wider
  '0018_events_by_row.sql': ['key gone: queue_events (id)', 'key new: queue_events (row_id, id)'],   // ids are generated, and never looked for alone
  '0019_acting_tokens.sql': ["constraint new: api_tokens CHECK (((scopes <@ '{api:read,api:write,api:erase,act:operator,act:admin}'::text[]) AND (cardinality(scopes) > 0)))"],   // wider
};

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await testDatabase({ template: false });
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-expand-'));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Rule {
  text: string;
  table: string;
  columns: string[];
}

interface Catalog {
  columns: Map<string, { type: string; optional: boolean }>;
  /** Unique: what ON CONFLICT may name, and what refuses a row. */
  keys: Rule[];
  constraints: Rule[];
}

const columnsOf = (numbers: string, table: string) => `array(select a.attname::text from pg_attribute a where a.attrelid = ${table} and a.attnum = any(${numbers}) order by 1)`;

async function catalogOf(pool: pg.Pool): Promise<Catalog> {
  const columns = await pool.query<{ name: string; type: string; optional: boolean }>(`
    select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull or a.atthasdef or a.attidentity <> '' as optional
      from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind = 'r' where c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped`);
  const keys = await pool.query<Rule>(`
    select c.relname || ' (' || (select string_agg(pg_get_indexdef(i.indexrelid, n, true), ', ' order by n) from generate_series(1, i.indnkeyatts) n) || ')'
      || coalesce(' where ' || pg_get_expr(i.indpred, i.indrelid), '') as text, c.relname::text as "table", ${columnsOf('i.indkey', 'i.indrelid')} as columns
      from pg_index i join pg_class c on c.oid = i.indrelid where i.indisunique and c.relnamespace = 'public'::regnamespace`);
  const constraints = await pool.query<Rule>(`
    select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as text, conrelid::regclass::text as "table", ${columnsOf('conkey', 'conrelid')} as columns
      from pg_constraint where contype in ('c', 'f', 'x') and connamespace = 'public'::regnamespace and conrelid <> 0`);
  return { columns: new Map(columns.rows.map(({ name, ...rest }) => [name, rest])), keys: keys.rows, constraints: constraints.rows };
}

/** What a version that knows `before` alone may stumble over in `after`: never what concerns new tables or new columns alone. */
function tightened(before: Catalog, after: Catalog): string[] {
  const tables = new Set([...before.columns.keys()].map((name) => name.split('.')[0]));
  const added = (kind: 'keys' | 'constraints') => after[kind].filter(({ text, table, columns }) => !before[kind].some((rule) => rule.text === text)
    && tables.has(table) && (columns.length === 0 || columns.some((column) => before.columns.has(`${table}.${column}`))));
  return [
    ...[...before.columns].filter(([name, { type }]) => after.columns.get(name)?.type !== type).map(([name]) => `column ${name} is gone or of another type`),
    ...[...before.columns].filter(([name, { optional }]) => optional && after.columns.get(name)?.optional === false).map(([name]) => `column ${name} must be given now`),
    ...[...after.columns].filter(([name, { optional }]) => !optional && !before.columns.has(name) && tables.has(name.split('.')[0])).map(([name]) => `new column ${name} must be given`),
    ...before.keys.filter(({ text }) => !after.keys.some((key) => key.text === text)).map(({ text }) => `key gone: ${text}`),
    ...added('keys').map(({ text }) => `key new: ${text}`),
    ...added('constraints').map(({ text }) => `constraint new: ${text}`),
  ];
}

it('no migration takes away what an older version uses, or asks of its rows what it does not give', async () => {
  const found: Record<string, string[]> = {};
  let before: Catalog | undefined;
  for (const { name } of readMigrations(realMigrations)) {
    fs.copyFileSync(path.join(realMigrations, name), path.join(folder, name));
    await migrate({ directUrl: database.url, migrationsDir: folder, log: createLogger({ level: 'silent', name: 'test' }) });
    const after = await catalogOf(database.pool);
    const faults = before ? tightened(before, after) : [];
    if (faults.length > 0) found[name] = faults;
    before = after;
  }
  expect(found).toEqual(KNOWN);
});
