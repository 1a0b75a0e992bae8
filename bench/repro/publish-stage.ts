/** What the publish repro stands on: a real database of its own, the stub orchestrator, two web processes and a worker as they ship. */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { startStubOrchestrator, type StubOrchestrator } from '../../server/deployments/stub-orchestrator.js';
import { createApiToken } from '../../server/operations/accounts.js';
import { startBenchServer } from '../server.js';

/** Short, so that a run takes seconds; printed with the result. */
export const SETTINGS = { LEASE_SECONDS: '6', HEARTBEAT_SECONDS: '2', SWEEP_SECONDS: '2', POLL_SECONDS: '1', PUBLISH_HEARTBEAT_SECONDS: '2', PUBLISH_DEAD_AFTER_SECONDS: '8', DRAIN_SECONDS: '2' };
const WAIT_MS = 60_000;

export interface Answer {
  status: number;
  code?: string;
  deploymentId?: string | null;
  attempt?: number;
}

export interface Stage {
  pool: pg.Pool;
  stub: StubOrchestrator;
  /** Of the two web processes. */
  ports: number[];
  /** The n-th caller's publish; callers take turns between the two web processes. */
  publish(caller: number, projectId: string): Promise<Answer>;
  stop(): Promise<void>;
}

export async function buildStage(): Promise<Stage> {
  const server = await startBenchServer();
  const stub = await startStubOrchestrator({ token: 'repro', behaviour: { buildMs: null } });
  const env = {
    PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', DATABASE_URL: server.url, SESSION_SECRET: 'r'.repeat(40), PORT: '0', LOG_LEVEL: 'info',
    ORCHESTRATOR_URL: stub.url, ORCHESTRATOR_TOKEN: stub.token, APP_VERSION: 'repro', ...SETTINGS,
  };
  const processes = [start('web', env), start('web', env), start('worker', { ...env, WORKER_CONCURRENCY: '8' })];
  const ports = (await Promise.all(processes.slice(0, 2).map((one) => said(one, /"event":"listening".*"port":(\d+)/)))).map((match) => Number(match[1]));
  await said(processes[2]!, /"event":"worker_started"/);
  const token = await createApiToken(server.pool, 'repro');
  return {
    pool: server.pool, stub, ports,
    async publish(caller, projectId) {
      const response = await fetch(`http://127.0.0.1:${ports[caller % 2]}/api/projects/${projectId}/publish`, {
        method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ userId: 'user-1', slug: projectId, requestedBy: (['button', 'tab', 'agent'] as const)[caller % 3] }),
      });
      return { status: response.status, ...await response.json() as object };
    },
    async stop() {
      await Promise.all(processes.map(end));
      await stub.close();
      await server.stop();
    },
  };
}

function start(name: 'web' | 'worker', env: Record<string, string | undefined>): ChildProcess {
  const file = path.resolve(import.meta.dirname, `../../build/server/main/${name}.js`);
  return spawn(process.execPath, ['--enable-source-maps', file], { env: env as NodeJS.ProcessEnv, stdio: ['ignore', 'pipe', 'inherit'] });
}

function said(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stdout!.on('data', (part: Buffer) => {
      text = (text + part.toString()).slice(-100_000);
      const match = pattern.exec(text);
      if (match) resolve(match);
    });
    child.once('exit', (code) => reject(new Error(`A process of the repro ended by itself (${code}):\n${text.slice(-2_000)}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const overdue = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(overdue);
}

export async function waitFor<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const answer = await look();
    if (answer) return answer;
    if (performance.now() > until) throw new Error(`expected ${what} within ${WAIT_MS / 1000} s, got nothing`);
    await pause(20);
  }
}
