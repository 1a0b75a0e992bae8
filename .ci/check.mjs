// `npm run check`: every rule that needs no database of its own to run against. All are run, all faults are shown; exit 1 if any failed.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const tool = (...parts) => [path.join(root, 'node_modules', ...parts)];

const checks = [
  ['lint', [...tool('eslint/bin/eslint.js'), '--no-warn-ignored', '--cache', '--cache-location', '.cache/eslint', '.']],
  ['types', [...tool('typescript/bin/tsc'), '--noEmit', '-p', '.']],
  ['import rules', [...tool('dependency-cruiser/bin/dependency-cruise.mjs'), '--config', '.dependency-cruiser.cjs', '--output-type', 'err', 'app', 'server', 'tests', 'bench']],
  ['dead code', [...tool('knip/bin/knip.js'), '--no-config-hints']],
  ['schema', ['build/server/main/schema.js', '--check']],
];

/** Two at a time: type-aware lint and the compiler want a processor each. */
const AT_ONCE = 2;

let failed = 0;
const waiting = [...checks];
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  for (let next = waiting.shift(); next; next = waiting.shift()) report(next[0], ...await run(next[1]));
}));
report('configuration', ...await sameAsExample());
process.stdout.write(failed === 0 ? 'Everything holds.\n' : `${failed} of ${checks.length + 1} checks failed.\n`);
process.exit(failed === 0 ? 0 : 1);

/** @returns {Promise<[boolean, string]>} whether it ended with 0, and what it said */
function run(command) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { cwd: root, env: { ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', part => { output += part; });
    child.on('error', reject);
    child.on('close', code => resolve([code === 0, output]));
  });
}

function report(name, fine, output) {
  if (!fine) failed += 1;
  process.stdout.write(`${fine ? 'ok ' : 'bad'}  ${name}\n`);
  if (!fine) process.stdout.write(`${output.trim()}\n`);
}

/** .env.example is generated from the table of settings, so that neither knows a name or a default that the other does not. */
async function sameAsExample() {
  const { exampleText } = await import(pathToFileURL(path.join(root, 'build/server/config-example.js')).href);
  const same = fs.readFileSync(path.join(root, '.env.example'), 'utf8') === exampleText();
  return [same, '.env.example does not agree with server/config-table.ts; npm run schema writes it anew'];
}
