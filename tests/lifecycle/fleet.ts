import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { startProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';
import { isGone, parsersOf } from './parsers-of.js';

/** Short, so that a lost lease is found within ten seconds. Web does the workers' work only where a test says so. */
export const shortSettings = { LEASE_SECONDS: '6', HEARTBEAT_SECONDS: '2', SWEEP_SECONDS: '2', POLL_SECONDS: '1', DRAIN_SECONDS: '4', WORKER_CONCURRENCY: '2', INLINE_AFTER_SECONDS: '86400' };

/** What `checkInvariants` needs to know of them. */
export const shortLimits = { leaseSeconds: 6, sweepSeconds: 2, pollSeconds: 1 };

/** Starting a process takes seconds on a busy machine (ms). */
const BOOT_MS = 40_000;

export interface WorkerRun extends TestProcess {
  /** Its identity in the registry, which is the `worker_id` of the rows it holds. */
  id: string;
}

export interface WebRun extends TestProcess {
  url: string;
}

export interface Fleet {
  /** Resolves when it takes work. */
  worker(env?: Record<string, string>): Promise<WorkerRun>;
  /** Resolves when it is ready. */
  web(env?: Record<string, string>): Promise<WebRun>;
  /** Names of the temporary files of all its processes. */
  temporaryFiles(): Promise<string[]>;
  /** Ends what still runs by SIGTERM; all of it must end cleanly and leave no parser, no temporary file. */
  end(): Promise<void>;
}

/** Processes of one installation against one database. What their temporary files come to is told apart by a folder of their own. */
export async function startFleet(databaseUrl: string, settings: Record<string, string> = {}): Promise<Fleet> {
  const temporary = await mkdtemp(path.join(os.tmpdir(), 'leaseboard-test-fleet-'));
  const running: TestProcess[] = [];
  const start = (name: string, env: Record<string, string>) => {
    const one = startProcess(`server/main/${name}.js`, {
      DATABASE_URL: databaseUrl, SESSION_SECRET: 'x'.repeat(40), PORT: '0', APP_VERSION: 'test', TMPDIR: temporary, ...shortSettings, ...settings, ...env,
    });
    running.push(one);
    return one;
  };
  const temporaryFiles = async () => {
    const entries = await readdir(temporary, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  };
  return {
    temporaryFiles,
    async worker(env = {}) {
      const one = start('worker', env);
      const [, id] = await one.says(/"event":"worker_started","worker":"([^"]+)"/, BOOT_MS);
      return Object.assign(one, { id: id! });
    },
    async web(env = {}) {
      const one = start('web', env);
      const [, port] = await one.says(/"event":"listening".*"port":(\d+)/, BOOT_MS);
      const url = `http://127.0.0.1:${port}`;
      await until(() => isReady(url), { timeoutMs: BOOT_MS, what: 'ready' });
      return Object.assign(one, { url });
    },
    async end() {
      const left = running.filter(isRunning);
      const parsers = left.flatMap(({ pid }) => parsersOf(pid));
      for (const one of left) one.kill('SIGTERM');
      const ends = await Promise.all(left.map((one) => one.ended));
      const leftovers = await temporaryFiles();
      await rm(temporary, { recursive: true });
      expect(ends).toEqual(left.map(() => ({ code: 0, signal: null })));
      expect(parsers.filter((pid) => !isGone(pid))).toEqual([]);
      expect(leftovers).toEqual([]);
    },
  };
}

export function isRunning(one: TestProcess): boolean {
  return one.child.exitCode === null && one.child.signalCode === null;
}

export function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).then((answer) => answer.ok, () => false);
}

/** As a power cut would: nothing of it can react. */
export async function killAtOnce(one: TestProcess): Promise<void> {
  one.kill('SIGKILL');
  await one.ended;
}
