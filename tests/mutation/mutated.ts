import type { Mutant } from './guards.js';

/** The text of a top-level function, to the closing brace at the start of a line, or of a constant, to its semicolon at the end of one. */
function rangeOf(text: string, name: string): [number, number] {
  const [, kind] = new RegExp(`^(?:export )?(?:async )?(function|const) ${name}\\b`, 'm').exec(text) ?? [];
  const start = text.search(new RegExp(`^(export )?(async )?(function|const) ${name}\\b`, 'm'));
  const end = text.indexOf(kind === 'const' ? ';\n' : '\n}\n', start);
  if (start < 0 || end < 0) throw new Error(`expected a function or constant ${name}, found none`);
  return [start, end];
}

/** @returns the file's text without the guard. @throws when the guard does not stand where the entry says. */
export function mutated(text: string, { inside, also = [], from, to }: Mutant): string {
  return [inside, ...also].reduce((whole, name) => {
    const [start, end] = rangeOf(whole, name);
    const before = whole.slice(start, end);
    const after = typeof from === 'string' ? before.replaceAll(from, () => to) : before.replace(from, to);
    if (after === before) throw new Error(`expected ${String(from)} in ${name}, found none`);
    return whole.slice(0, start) + after + whole.slice(end);
  }, text);
}
