// Plain JavaScript without dependencies: installs and builds what is missing, then becomes the command that was asked for, in this very
// process, so that signals arrive. What it has to say goes to stderr. Two at once: one prepares, the other waits.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { acquireFileLock } from '../file-lock.js';
import { build, staleBuilds } from './build.mjs';
import { checkNode, install, linkCommand, needsInstall } from './install.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** A first install on a slow line and the first build (ms). */
const LOCK_LIMIT_MS = 900_000;

/** Command → the file that it becomes. `prepare` itself ends there. */
const commands = {
  start: 'build/server/main/start.js',
  web: 'build/server/main/web.js',
  worker: 'build/server/main/worker.js',
  migrate: 'build/server/main/migrate.js',
  cli: 'build/server/main/cli.js',
  dev: 'server/main/dev.mjs',
  schema: 'build/server/main/schema.js',
  check: '.ci/check.mjs',
  bench: 'bench/run.ts',
  'repro:publish-race': 'bench/repro/publish-race.ts',
  'repro:redeploy': 'bench/repro/redeploy.ts',
  chaos: 'bench/chaos/run.ts',
  demo: 'bench/demo/traffic.ts',
  mutate: 'tests/mutation/token-mutation.ts',
  test: 'tests/support/run.mjs',
  prepare: undefined,
};

/** These do not serve the built console. */
const withoutApp = ['dev', 'worker', 'migrate', 'cli', 'schema', 'mutate', 'check', 'demo'];

async function main() {
  const [command] = process.argv.splice(2, 1);
  if (!command || !(command in commands)) throw new Error(`expected one of ${Object.keys(commands).join(', ')}, found ${command ?? 'nothing'}`);
  checkNode();
  await prepare(command);
  const entry = commands[command];
  if (entry?.endsWith('.ts')) (await import('tsx/esm/api')).register();
  if (entry) await import(pathToFileURL(path.join(root, entry)).href);
}

async function prepare(command) {
  const stale = () => staleBuilds(root).filter(name => name === 'server' || !withoutApp.includes(command));
  if (!needsInstall(root) && stale().length === 0) return linkCommand(root);
  fs.mkdirSync(path.join(root, '.leaseboard'), { recursive: true });
  const release = await acquireFileLock(path.join(root, '.leaseboard', 'prepare.lock'), {
    timeoutMs: LOCK_LIMIT_MS,
    onWait: pid => process.stderr.write(`Process ${pid} is installing or building; waiting for it …\n`),
  });
  try {
    if (needsInstall(root)) await install(root);
    for (const name of stale()) {
      if (name === 'app') process.stderr.write('Building the console …\n');
      await build(root, name);
    }
    linkCommand(root);
  } finally {
    release();
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
