/**
 * Takes one guard at a time out of the lease engine, in a copy of the tree, and runs its tests: something must fail. Run by hand:
 * `npx tsx tests/mutation/token-mutation.ts [part of a guard's name]`. Prints one line a mutant; ends with 1 when one survived.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { mutants, type Mutant } from './guards.js';

const TESTS = ['races', 'tokens', 'counters', 'acquire', 'renew', 'parents', 'staged', 'sweep'];
const COPIED = ['server', 'sql', 'tests/lease', 'tests/support', 'tests/bus/proxy.ts', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const LIMIT_MS = 300_000;

const root = path.resolve(import.meta.dirname, '../..');
const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-mutants-'));

function makeCopy(): void {
  for (const name of COPIED) fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  fs.mkdirSync(path.join(copy, 'app'), { recursive: true });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
}

/** The text of a top-level function: from its declaration to the closing brace at the start of a line. */
function functionRange(text: string, name: string): [number, number] {
  const start = text.search(new RegExp(`^(export )?(async )?function ${name}\\b`, 'm'));
  const end = text.indexOf('\n}\n', start);
  if (start < 0 || end < 0) throw new Error(`expected a function ${name}, found none`);
  return [start, end];
}

function mutated(text: string, { inside, also = [], from, to }: Mutant): string {
  return [inside, ...also].reduce((whole, name) => {
    const [start, end] = functionRange(whole, name);
    const before = whole.slice(start, end);
    const after = typeof from === 'string' ? before.replaceAll(from, () => to) : before.replace(from, to);
    if (after === before) throw new Error(`expected ${String(from)} in ${name}, found none`);
    return whole.slice(0, start) + after + whole.slice(end);
  }, text);
}

function run(names: readonly string[]): { failed: boolean; by: string } {
  const files = names.map((name) => `tests/lease/${name}.test.ts`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--bail=1', ...files], { cwd: copy, encoding: 'utf8', timeout: LIMIT_MS, env: { ...process.env, NO_COLOR: '1' } });
  const by = /^ FAIL +(.*)$/m.exec(stdout + stderr)?.[1] ?? (status === null ? 'no answer in time' : 'an error outside the tests');
  return { failed: status !== 0, by };
}

function main(): number {
  makeCopy();
  for (const mutant of mutants) mutated(fs.readFileSync(path.join(copy, mutant.file), 'utf8'), mutant); // all of them apply
  const wanted = mutants.filter((mutant) => mutant.guard.includes(process.argv[2] ?? ''));
  if (run(TESTS).failed) throw new Error('expected the tests to pass before anything is taken out');
  const survived: string[] = [];
  for (const mutant of wanted) {
    const file = path.join(copy, mutant.file);
    const original = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, mutated(original, mutant));
    const soon = run(mutant.first);
    const { failed, by } = soon.failed ? soon : run(TESTS.filter((name) => !mutant.first.includes(name)));
    fs.writeFileSync(file, original);
    if (!failed) survived.push(mutant.guard);
    process.stdout.write(`${failed ? 'caught  ' : 'SURVIVED'}  ${mutant.guard}${failed ? `  ←  ${by}` : ''}\n`);
  }
  process.stdout.write(`${wanted.length - survived.length} of ${wanted.length} caught\n`);
  return survived.length === 0 ? 0 : 1;
}

try {
  process.exitCode = main();
} finally {
  fs.rmSync(copy, { recursive: true, force: true });
}
