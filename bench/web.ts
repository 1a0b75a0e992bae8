/** One web process as it ships, over the bench's Postgres. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startProcess } from './stage/process.js';
import type { BenchServer } from './server.js';

/** On a machine that others use too (ms). */
const BOOT_MS = 180_000;
const END_MS = 60_000;

export interface BenchWeb {
  pid: number;
  port: number;
  stop(): Promise<void>;
}

export async function startWeb({ url }: BenchServer): Promise<BenchWeb> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-bench-web-'));
  const web = startProcess({
    file: 'build/server/main/web.js', logFile: path.join(folder, 'web.log'), nodeArguments: process.env.BENCH_NODE_ARGUMENTS?.split(' ') ?? [],
    env: { DATABASE_URL: url, SESSION_SECRET: 'b'.repeat(40), PORT: '0', APP_VERSION: 'bench', ANALYSIS_WORKER_MODE: 'remote', DRAIN_SECONDS: '1' },
  });
  const [, port] = await web.says(/"event":"listening".*?"port":(\d+)/, BOOT_MS);
  return {
    pid: web.pid, port: Number(port),
    async stop() {
      web.signal('SIGTERM');
      const overdue = setTimeout(() => web.signal('SIGKILL'), END_MS);
      await web.ended;
      clearTimeout(overdue);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
