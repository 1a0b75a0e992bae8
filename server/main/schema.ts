/**
 * `npm run schema`: applies the migrations to a throwaway database and writes what comes out, as sql/schema.sql and as the types in
 * server/db/generated.ts; and .env.example from the table of settings. With `--check` it writes nothing and ends with 1 when either differs.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { loadConfig } from '../config.js';
import { exampleText } from '../config-example.js';
import { ensureEmbedded } from '../db/embedded.js';
import { migrate, migrationsIn } from '../db/migrate.js';
import { dumpSchema } from '../db/schema-dump.js';
import { createLogger } from '../log.js';
import { runMain } from './run-main.js';

await runMain(async () => {
  const { projectRoot } = loadConfig({});
  const check = process.argv.includes('--check');
  const made = await makeFiles(projectRoot);
  const different = [...made].filter(([name, text]) => readOr(path.join(projectRoot, name)) !== text);
  for (const [name, text] of different) {
    if (!check) fs.writeFileSync(path.join(projectRoot, name), text);
    process.stdout.write(check ? `${name} is not what sql/migrations and server/config-table.ts add up to; run npm run schema\n` : `Wrote ${name}\n`);
  }
  if (check && different.length > 0) process.exitCode = 1;
});

/** File → its text, from a database that exists for this alone. */
async function makeFiles(projectRoot: string): Promise<Map<string, string>> {
  const dataDir = path.join(os.tmpdir(), `leaseboard-schema-${randomBytes(6).toString('hex')}`);
  const log = createLogger({ level: 'warn', name: 'schema', destination: 2 });
  const server = await ensureEmbedded({ dataDir, log, settings: { fsync: 'off' } });
  try {
    await migrate({ directUrl: server.url, migrationsDir: migrationsIn(projectRoot), log });
    return new Map([
      ['sql/schema.sql', await schemaText(server.url)],
      ['server/db/generated.ts', typesText(projectRoot, server.url)],
      ['.env.example', exampleText()],
    ]);
  } finally {
    await server.stop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

async function schemaText(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await dumpSchema(client);
  } finally {
    await client.end();
  }
}

function typesText(projectRoot: string, url: string): string {
  const generator = path.join(projectRoot, 'node_modules/kysely-codegen/dist/cli/bin.js');
  const ran = spawnSync(process.execPath, [generator, '--dialect', 'postgres', '--url', url, '--print', '--log-level', 'silent'], { cwd: os.tmpdir(), encoding: 'utf8', timeout: 60_000 });
  if (ran.status !== 0) throw new Error(`Generating the table types failed:\n${ran.stdout}${ran.stderr}`);
  return ran.stdout.slice(ran.stdout.indexOf('/**'));
}

function readOr(file: string): string {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
}
