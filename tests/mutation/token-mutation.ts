/**
 * Takes one guard at a time out of the product's SQL, in a copy of the tree, and runs tests: something must fail. `npm run mutate` or
 * `npm run chaos -- --mutate`, with `[parts of guards' names]` and `[--by part of a test's path]`. Prints one line a mutant; ends with 1 when one
 * survived. With --by only those tests are asked, and what they say is printed.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { mutants, type Mutant } from './guards.js';
import { mutated } from './mutated.js';

/** What is asked when the tests that a guard names have not noticed. */
const TESTS = ['lease/races', 'lease/tokens', 'lease/counters', 'lease/acquire', 'lease/renew', 'lease/parents', 'lease/staged', 'lease/sweep', 'property/leases'];
const COPIED = ['server', 'sql', 'tests', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const LIMIT_MS = 300_000;

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { by: { type: 'string' }, mutate: { type: 'boolean' } } });

const root = path.resolve(import.meta.dirname, '../..');
const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-mutants-'));

function makeCopy(): void {
  for (const name of COPIED) fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  fs.mkdirSync(path.join(copy, 'app'), { recursive: true });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
}

/** @returns whether a test failed, which one, and what it said. A run that ends without the name of a failed test has found nothing. */
function run(names: readonly string[]): { failed: boolean; by: string; said: string } {
  const files = names.map((name) => `tests/${name}.test.ts`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--bail=1', ...files], { cwd: copy, encoding: 'utf8', timeout: LIMIT_MS, env: { ...process.env, NO_COLOR: '1' } });
  if (status === 0) return { failed: false, by: '', said: '' };
  if (/syntax error at or near|SyntaxError/.test(stdout + stderr)) throw new Error(`expected the mutant to be SQL, got:\n${stderr.slice(0, 2_000)}`);
  const [, by] = /^ FAIL +(.*)$/m.exec(stdout + stderr) ?? [];
  if (by === undefined && status !== null) throw new Error(`expected a test to fail or all to pass, got an error outside the tests:\n${(stdout + stderr).slice(-2_000)}`);
  return { failed: true, by: by ?? 'no answer in time', said: (/^(?:Assertion)?Error: [\s\S]*?(?=\n ❯)/m.exec(stderr)?.[0] ?? '').slice(0, 2_000) };
}

/** The tests that the guard names first, then the others; with --by those of them alone that it names. */
function caughtBy(mutant: Mutant): ReturnType<typeof run> {
  const wanted = (name: string) => !options.by || name.includes(options.by);
  const first = mutant.first.filter(wanted);
  const soon = first.length > 0 ? run(first) : { failed: false, by: '', said: '' };
  const others = TESTS.filter((name) => wanted(name) && !first.includes(name));
  return soon.failed || others.length === 0 ? soon : run(others);
}

function main(): number {
  makeCopy();
  for (const mutant of mutants) mutated(fs.readFileSync(path.join(copy, mutant.file), 'utf8'), mutant); // all of them apply
  const wanted = mutants.filter(({ guard }) => positionals.length === 0 || positionals.some((part) => guard.includes(part)));
  const asked = [...new Set([...wanted.flatMap((mutant) => mutant.first), ...TESTS])].filter((name) => !options.by || name.includes(options.by));
  const before = run(asked);
  if (before.failed) throw new Error(`expected the tests to pass before anything is taken out, got ${before.by}`);
  const survived: string[] = [];
  for (const mutant of wanted) {
    if (mutant.equivalent) {
      process.stdout.write(`same      ${mutant.guard}  (${mutant.equivalent})\n`);
      continue;
    }
    const file = path.join(copy, mutant.file);
    const original = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, mutated(original, mutant));
    const { failed, by, said } = caughtBy(mutant);
    fs.writeFileSync(file, original);
    if (!failed) survived.push(mutant.guard);
    process.stdout.write(`${failed ? 'caught  ' : 'SURVIVED'}  ${mutant.guard}${failed ? `  ←  ${by}` : ''}\n${options.by && said ? `${said.replace(/^/gm, '    ')}\n` : ''}`);
  }
  const changing = wanted.filter(({ equivalent }) => !equivalent).length;
  process.stdout.write(`${changing - survived.length} of ${changing} caught, ${wanted.length - changing} change nothing\n`);
  return survived.length === 0 ? 0 : 1;
}

try {
  process.exitCode = main();
} finally {
  fs.rmSync(copy, { recursive: true, force: true });
}
