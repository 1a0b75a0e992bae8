// `npm test`: makes sure of a browser, then runs the whole suite once; ends as vitest ends. Arguments go to vitest. With LEASEBOARD_LONG=1 and
// without arguments: only the tests that then run for longer, in full.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from './chromium.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

const given = process.argv.slice(2);

function longTests() {
  const files = fs.readdirSync(path.join(root, 'tests'), { recursive: true }).map(name => path.join('tests', name)).filter(name => name.endsWith('.test.ts'));
  return files.filter(name => fs.readFileSync(path.join(root, name), 'utf8').includes('process.env.LEASEBOARD_LONG'));
}

const { executablePath } = await findChromium({ mayInstall: true });
const vitest = spawn(process.execPath, [path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...(process.env.LEASEBOARD_LONG && given.length === 0 ? longTests() : given)], {
  cwd: root,
  env: { ...process.env, CHROMIUM_PATH: executablePath, NODE_ENV: 'test' },
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => vitest.kill(signal));
vitest.on('close', code => process.exit(code ?? 1));
