import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mutants } from './guards.js';
import { mutated } from './mutated.js';

const root = path.resolve(import.meta.dirname, '../..');

it.each(mutants)('the guard stands where the mutation run looks for it: $guard', (mutant) => {
  const text = fs.readFileSync(path.join(root, mutant.file), 'utf8');
  expect(mutated(text, mutant)).not.toBe(text);
  for (const name of mutant.first) expect(fs.existsSync(path.join(root, `tests/${name}.test.ts`)), name).toBe(true);
});

it('no two guards have the same name', () => {
  expect(new Set(mutants.map(({ guard }) => guard)).size).toBe(mutants.length);
});
