/** The two systems that the redeploy repro runs its script against: the product as it ships, and a small program of the old design. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { createApiToken } from '../../server/operations/accounts.js';
import { startBenchServer } from '../server.js';
import { startProcess, type StageProcess } from '../stage/process.js';
import type { Phase } from './redeploy.js';
import type { Outside } from './redeploy-script.js';

export interface System {
  name: string;
  settings: Record<string, string>;
  addresses(): readonly string[];
  token: string;
  /** Undefined where there is none: then only the clients' view can be judged. */
  database: pg.Pool | undefined;
  /** @returns once the new processes are up and the old ones gone. `switched` is called when the old ones are about to be signalled, with the identities of the workers among them. */
  redeploy(phase: Phase, switched: (outgoing: readonly string[]) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Short, so that a run takes minutes. */
const SETTINGS = {
  LEASE_SECONDS: '6', HEARTBEAT_SECONDS: '2', SWEEP_SECONDS: '2', POLL_SECONDS: '1', DRAIN_SECONDS: '5', PUBLISH_HEARTBEAT_SECONDS: '2', PUBLISH_DEAD_AFTER_SECONDS: '8',
  WORKER_CONCURRENCY: '6', WORKER_CONCURRENCY_PARSE: '2', WORKER_CONCURRENCY_CITATIONS: '3', WORKER_CONCURRENCY_PUBLISH: '1', MAX_ACTIVE_PARSE_JOBS_PER_USER: '20',
};
/** Starting a process on a busy machine (ms). */
const BOOT_MS = 120_000;

interface Running { process: StageProcess; word: string }

export async function startProduct({ orchestrator, model }: Outside): Promise<System> {
  const server = await startBenchServer();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-redeploy-'));
  const env = {
    ...SETTINGS, DATABASE_URL: server.url, SESSION_SECRET: 'r'.repeat(40), PORT: '0', LOG_LEVEL: 'info', TMPDIR: folder,
    ORCHESTRATOR_URL: orchestrator.url, ORCHESTRATOR_TOKEN: orchestrator.token, LLM_BASE_URL: model.baseUrl, LLM_MODEL: 'stub',
  };
  let version = 1;
  const start = async (role: 'web' | 'worker'): Promise<Running> => {
    const started = startProcess({ file: `build/server/main/${role}.js`, env: { ...env, APP_VERSION: `v${version}` }, logFile: path.join(folder, `${role}-v${version}-${randomUUID().slice(0, 4)}.log`) });
    const [, word] = await started.says(role === 'web' ? /"event":"listening".*"port":(\d+)/ : /"event":"worker_started","worker":"([^"]+)"/, BOOT_MS);
    return { process: started, word: word! };
  };
  const running = { web: await start('web'), worker: await start('worker') };
  return {
    name: 'The product: one web process, one worker, a database', settings: SETTINGS, token: (await createApiToken(server.pool, 'redeploy'))!, database: server.pool,
    addresses: () => [`http://127.0.0.1:${running.web.word}`],
    async redeploy({ what, signal }, switched) {
      version += 1;
      const roles = what === 'both' ? ['web', 'worker'] as const : [what];
      const old = roles.map((role) => running[role]);
      const replace = () => Promise.all(roles.map(async (role) => { running[role] = await start(role); }));
      if (signal === 'SIGTERM') await replace();
      await switched(what === 'web' ? [] : [old.at(-1)!.word]);
      for (const one of old) one.process.signal(signal);
      if (signal === 'SIGKILL') await replace();
      const ends = await Promise.all(old.map((one) => one.process.ended));
      if (signal === 'SIGTERM' && ends.some(({ code }) => code !== 0)) throw new Error(`expected every process to end cleanly, got ${JSON.stringify(ends)}`);
    },
    async stop() {
      for (const { process: one } of Object.values(running)) if (one.running()) one.signal('SIGTERM');
      await Promise.all(Object.values(running).map((one) => one.process.ended));
      await server.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One process that is web and worker; it takes the old one's port, as behind a load balancer. */
export async function startInMemory({ orchestrator, model }: Outside): Promise<System> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-in-memory-'));
  const settings = { DRAIN_SECONDS: SETTINGS.DRAIN_SECONDS };
  const start = async (): Promise<Running> => {
    const started = startProcess({
      file: 'bench/repro/in-memory.ts', logFile: path.join(folder, `${randomUUID().slice(0, 8)}.log`),
      env: { ...settings, TMPDIR: folder, ORCHESTRATOR_URL: orchestrator.url, ORCHESTRATOR_TOKEN: orchestrator.token, LLM_BASE_URL: model.baseUrl },
    });
    const [, word] = await started.says(/listening on (\d+)/, BOOT_MS);
    return { process: started, word: word! };
  };
  let running = await start();
  return {
    name: 'The old design: one process, and a map in it is the truth', settings, token: 'none', database: undefined,
    addresses: () => [`http://127.0.0.1:${running.word}`],
    async redeploy({ signal }, switched) {
      const old = running;
      if (signal === 'SIGTERM') running = await start();
      await switched([]);
      old.process.signal(signal);
      if (signal === 'SIGKILL') running = await start();
      await old.process.ended;
    },
    async stop() {
      running.process.signal('SIGKILL');
      await running.process.ended;
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
