// `npm run check`: every rule that needs no database of its own to run against. All are run, all faults are shown; exit 1 if any failed.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const tool = (...parts) => [path.join(root, 'node_modules', ...parts)];

const checks = [
  ['lint', [...tool('eslint/bin/eslint.js'), '--no-warn-ignored', '.']],
  ['types', [...tool('typescript/bin/tsc'), '--noEmit', '-p', '.']],
  ['import rules', [...tool('dependency-cruiser/bin/dependency-cruise.mjs'), '--config', '.dependency-cruiser.cjs', '--output-type', 'err', 'app', 'server', 'tests', 'bench']],
  ['dead code', [...tool('knip/bin/knip.js'), '--no-config-hints']],
  ['schema', ['build/server/main/schema.js', '--check']],
];

let failed = 0;
for (const [name, command] of checks) {
  const ran = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' } });
  report(name, ran.status === 0, `${ran.stdout}${ran.stderr}`);
}
report('configuration', ...await sameAsExample());
process.stdout.write(failed === 0 ? 'Everything holds.\n' : `${failed} of ${checks.length + 1} checks failed.\n`);
process.exit(failed === 0 ? 0 : 1);

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
