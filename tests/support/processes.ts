import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { until } from './until.js';

export type TestProcess = {
  child: ChildProcess;
  pid: number;
  /** Everything it wrote to stdout so far. */
  stdout(): string;
  /** Everything it wrote to stderr so far. */
  stderr(): string;
  /** Waits for text on stdout or stderr. */
  says(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** Exit code and signal, once it ended. */
  ended: Promise<{ code: number | null, signal: NodeJS.Signals | null }>;
};

const root = path.resolve(import.meta.dirname, '../..');
const running = new Set<TestProcess>();

/** The environment of the test runner without what configures Leaseboard or the runner itself. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG, NODE_ENV: 'production' };
}

/**
 * Starts `node build/<entry>` (for example `server/main/worker.js`; global setup has built it) with only `env`, output captured.
 * What still runs when the test file ends is killed.
 */
export function startProcess(entry: string, env: Record<string, string> = {}, options: { args?: string[], cwd?: string, input?: string } = {}): TestProcess {
  const file = path.isAbsolute(entry) ? entry : path.join(root, 'build', entry);
  const child = spawn(process.execPath, [file, ...options.args ?? []], {
    cwd: options.cwd ?? root,
    env: { ...cleanEnvironment(), ...env },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(options.input);
  return watch(child);
}

function watch(child: ChildProcess): TestProcess {
  let out = '';
  let err = '';
  child.stdout?.on('data', (part: Buffer) => { out += part.toString(); });
  child.stderr?.on('data', (part: Buffer) => { err += part.toString(); });
  const started: TestProcess = {
    child,
    pid: child.pid ?? 0,
    stdout: () => out,
    stderr: () => err,
    says: (pattern, timeoutMs = 20_000) => until(() => {
      const match = pattern.exec(out) ?? pattern.exec(err);
      if (!match && child.exitCode !== null) throw new Error(`The process ended (${child.exitCode}) before it said ${pattern}:\n${out}${err}`);
      return match;
    }, { timeoutMs, what: `${pattern} in the output of ${child.spawnargs.slice(1).join(' ')}` }).catch(error => {
      throw new Error(`${(error as Error).message}\n--- stdout\n${out}\n--- stderr\n${err}`);
    }),
    kill: signal => { child.kill(signal); },
    ended: new Promise(resolve => child.on('close', (code, signal) => {
      running.delete(started);
      resolve({ code, signal });
    })),
  };
  running.add(started);
  return started;
}

/** Ends whatever the file left running. */
export async function killProcesses(): Promise<void> {
  await Promise.all([...running].map(one => {
    one.kill('SIGKILL');
    return one.ended;
  }));
}

/** Command lines of this process's own children; empty where /proc is missing. */
export function ownChildren(): string[] {
  const pids = fs.existsSync('/proc/self/task')
    ? fs.readdirSync('/proc/self/task').flatMap(task => readOr(`/proc/self/task/${task}/children`).split(' ').filter(pid => pid !== ''))
    : [];
  return pids.map(pid => `${pid} ${readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()}`).filter(line => line.includes(' ') && !/esbuild/.test(line));
}

function readOr(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
