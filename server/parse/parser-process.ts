import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { ChildOrder } from './extraction.js';

/**
 * Starts a parser with an empty environment, in a session of its own (Ctrl-C in a terminal reaches the worker alone, which then
 * decides). The file goes to its stdin: no copy in the parent, nothing on disk.
 */
export function startParser(bytes: Buffer, order: ChildOrder): ChildProcess {
  const { entry, loader } = program();
  const child = fork(entry, [JSON.stringify(order)], {
    execArgv: [`--max-old-space-size=${Math.floor(order.maxMemoryMb * 0.75)}`, ...loader],
    env: {},
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    detached: true,
  });
  child.stdin?.on('error', () => undefined); // the child may die before it has read everything; its exit says why
  child.stdin?.end(bytes);
  return child;
}

/**
 * Plain JavaScript beside this file. Where this file runs from the sources (tests, development), that of the build; without a build the
 * source through tsx, which works but needs seconds and 300 MB more.
 */
function program(): { entry: string; loader: string[] } {
  if (!import.meta.url.endsWith('.ts')) return { entry: beside('./extract-child.js'), loader: [] };
  const built = beside('../../build/server/parse/extract-child.js');
  if (existsSync(built)) return { entry: built, loader: [] };
  return { entry: beside('./extract-child.ts'), loader: ['--import', createRequire(import.meta.url).resolve('tsx')] };
}

function beside(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
