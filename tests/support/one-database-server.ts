/**
 * One throwaway embedded Postgres for the whole run, with a template database that has every migration. It is as real as any, except
 * that it does not wait for the disk. A run that was killed leaves its server behind: the next run ends it.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { ensureEmbedded, findEmbedded } from '../../server/db/embedded.js';
import { migrate } from '../../server/db/migrate.js';
import { isAlive, startOf } from '../../server/file-lock.js';
import { createLogger } from '../../server/log.js';
import { buildServer } from '../../server/main/build.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseServer: string;
    templateDatabase: string;
  }
}

const prefix = path.join(os.tmpdir(), 'leaseboard-tests-');
const root = path.resolve(import.meta.dirname, '../..');
const log = createLogger({ level: 'warn', name: 'tests', destination: 2 });

export default async function setup(project: TestProject) {
  await removeAbandoned();
  const dataDir = `${prefix}${randomBytes(6).toString('hex')}`;
  claimFolder(dataDir);
  const [server] = await Promise.all([
    ensureEmbedded({ dataDir, log, settings: { fsync: 'off', full_page_writes: 'off', max_connections: '300', log_min_messages: 'fatal' } }),
    buildServer(root),
  ]);
  await migrate({ directUrl: server.url, migrationsDir: path.join(root, 'sql', 'migrations'), log });
  project.provide('databaseServer', server.url);
  project.provide('templateDatabase', new URL(server.url).pathname.slice(1));
  return async () => {
    await server.stop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  };
}

/** It appears with its runner's name in it, so that another run that starts meanwhile does not take it for an abandoned one. */
function claimFolder(dataDir: string): void {
  const draft = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-draft-'));
  fs.chmodSync(draft, 0o755);
  fs.writeFileSync(path.join(draft, 'runner.json'), JSON.stringify({ pid: process.pid, started: startOf(process.pid) }));
  fs.renameSync(draft, dataDir);
}

async function removeAbandoned(): Promise<void> {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const dataDir = path.join(os.tmpdir(), name);
    if (!dataDir.startsWith(prefix) || runnerLives(dataDir)) continue;
    const server = await findEmbedded({ dataDir, log }).catch(() => undefined);
    await server?.stop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

function runnerLives(dataDir: string): boolean {
  try {
    const runner = JSON.parse(fs.readFileSync(path.join(dataDir, 'runner.json'), 'utf8')) as { pid: number, started?: string };
    return isAlive(runner.pid) && startOf(runner.pid) === runner.started;
  } catch {
    return false;
  }
}
