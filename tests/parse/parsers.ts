import fs from 'node:fs';
import { until } from '../support/until.js';

/** Pids of the parser processes that `parent` started and that are still there (a zombie counts). */
export function parsersOf(parent: number = process.pid): number[] {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number)
    .filter((pid) => parentOf(pid) === parent && isParser(pid));
}

export async function oneParser(parent?: number): Promise<number> {
  return until(() => parsersOf(parent).find(runsParser), { what: 'the start of a parser process' });
}

/** Running code of its own: the limits, signal handlers and the watchdog are in place. */
export async function settledParser(parent?: number): Promise<number> {
  const pid = await oneParser(parent);
  await until(() => fs.readdirSync(`/proc/${pid}/task`).length > 11, { what: 'the watchdog thread' });
  return pid;
}

/** MiB of resident set at its highest so far; 0 when the process is gone. */
export function peakMemoryMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readOr(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
}

/** Hundredths of a second of processor time so far; 0 when the process has ended. */
export function cpuTicks(pid: number): number {
  const fields = readOr(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];
  return fields[0] === 'Z' ? 0 : Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

function parentOf(pid: number): number {
  return Number(/\nPPid:\s+(\d+)/.exec(readOr(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** A zombie has no command line left: any dead child that was not reaped counts as a leftover. */
function isParser(pid: number): boolean {
  return runsParser(pid) || /\nState:\s+Z/.test(readOr(`/proc/${pid}/status`));
}

function runsParser(pid: number): boolean {
  return readOr(`/proc/${pid}/cmdline`).includes('extract-child');
}

function readOr(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
