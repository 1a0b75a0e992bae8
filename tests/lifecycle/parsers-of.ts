/** The parser children of a process, seen from outside through /proc (Linux). */
import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../support/until.js';

export function parsersOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => read(`/proc/${child}/cmdline`).includes('extract-child'));
}

/** Waits until the process has a parser. @returns its pid. */
export function someParserOf(pid: number): Promise<number> {
  return until(() => parsersOf(pid)[0], { timeoutMs: 30_000, what: `a parser of process ${pid}` });
}

/** A process that has ended but was not reaped (its new parent may be slow) is gone. */
export function isGone(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat === '' || /\) [ZX] /.test(stat);
}

function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number));
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
