// `npm run dev`: as npm start, but the console comes from the sources (Vite reloads the page), and a change below server/ is built and
// web and worker are started anew; the database stays up.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildServer } from './build.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
/** Editors write a file in several steps (ms). */
const SETTLE_MS = 150;

const start = spawn(process.execPath, ['--enable-source-maps', path.join(root, 'build/server/main/start.js')], {
  cwd: root,
  env: { ...process.env, NODE_ENV: 'development', LOG_LEVEL: process.env.LOG_LEVEL ?? 'info' },
  stdio: 'inherit',
  detached: true,
});
start.on('exit', code => process.exit(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => start.kill(signal));

let settling;
fs.watch(path.join(root, 'server'), { recursive: true }, () => {
  clearTimeout(settling);
  settling = setTimeout(rebuild, SETTLE_MS);
});

async function rebuild() {
  try {
    await buildServer(root);
    start.kill('SIGUSR2');
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
  }
}
