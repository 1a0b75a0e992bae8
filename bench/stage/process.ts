/**
 * A process of the product as it ships, for repros and chaos: what it says goes to a file, so that neither a frozen reader nor a long run loses it.
 * Everything a process leaves in its temporary folder, and every child, can be told by the folder.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const root = path.resolve(import.meta.dirname, '../..');
const LOOK_MS = 50;

export interface StageProcess {
  pid: number;
  /** Everything it wrote so far, on both streams. */
  said(): string;
  /** Waits for text; rejects when the process ends before it. */
  says(pattern: RegExp, limitMs: number): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
  running(): boolean;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface ProcessOptions {
  /** A file below the project: `build/server/main/web.js`, `bench/repro/in-memory.ts`. */
  file: string;
  env: Record<string, string>;
  logFile: string;
  nodeArguments?: string[];
}

/** The environment holds nothing of ours but PATH and HOME. */
export function startProcess({ file, env, logFile, nodeArguments = [] }: ProcessOptions): StageProcess {
  const log = fs.openSync(logFile, 'a');
  const typed = file.endsWith('.ts') ? ['--import', 'tsx'] : ['--enable-source-maps'];
  const child = spawn(process.execPath, [...typed, ...nodeArguments, path.join(root, file)], {
    cwd: root, env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...env }, stdio: ['ignore', log, log],
  });
  fs.closeSync(log);
  return watched(child, logFile);
}

function watched(child: ChildProcess, logFile: string): StageProcess {
  const said = () => fs.readFileSync(logFile, 'utf8');
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0, said, running,
    async says(pattern, limitMs) {
      const until = performance.now() + limitMs;
      for (;;) {
        const alive = running();
        const match = pattern.exec(said());
        if (match) return match;
        if (!alive) throw new Error(`expected a process to say ${pattern}, but it ended (${child.exitCode ?? child.signalCode}):\n${said().slice(-2_000)}`);
        if (performance.now() > until) throw new Error(`expected a process to say ${pattern} within ${limitMs} ms, got:\n${said().slice(-2_000)}`);
        await pause(LOOK_MS);
      }
    },
    signal: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
  };
}

/** Processes, also of others' making, whose environment names this temporary folder (Linux; elsewhere none is found). */
export function processesWithTemporaryFolder(folder: string): number[] {
  if (!fs.existsSync('/proc/self/environ')) return [];
  const marked = Buffer.from(`TMPDIR=${folder}\0`);
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => pid !== process.pid && holds(`/proc/${pid}/environ`, marked));
}

/** A parser's environment is empty, so it is told by its parent while that lives. @returns the parsers of this process. */
export function parsersOf(pid: number): number[] {
  try {
    return fs.readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => fs.readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number)).filter(isParser);
  } catch {
    return [];
  }
}

/** False also for one that has ended and was not reaped, and for a pid that somebody else has by now. */
export function isParser(pid: number): boolean {
  return holds(`/proc/${pid}/cmdline`, Buffer.from('extract-child'));
}

function holds(file: string, text: Buffer): boolean {
  try {
    return fs.readFileSync(file).includes(text);
  } catch {
    return false;
  }
}
