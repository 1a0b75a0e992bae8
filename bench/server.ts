/** A throwaway Postgres for measurements: the embedded one with its ordinary, durable settings. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { ensureEmbedded } from '../server/db/embedded.js';
import { migrate, migrationsIn } from '../server/db/migrate.js';
import { createLogger } from '../server/log.js';

export const benchLog = createLogger({ level: 'error', name: 'bench', destination: 2 });
const root = path.resolve(import.meta.dirname, '..');

export interface BenchServer {
  url: string;
  pool: pg.Pool;
  stop(): Promise<void>;
}

/** Starts it, migrated. Autovacuum stays on, as it would be; each run vacuums before it measures. */
export async function startBenchServer(settings: Record<string, string> = {}): Promise<BenchServer> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-bench-'));
  fs.chmodSync(dataDir, 0o755);
  const server = await ensureEmbedded({ dataDir, log: benchLog, settings: { shared_buffers: '256MB', max_wal_size: '4GB', ...settings } });
  await migrate({ directUrl: server.url, migrationsDir: migrationsIn(root), log: benchLog });
  const pool = new pg.Pool({ connectionString: server.url, max: 4 });
  return {
    url: server.url, pool,
    async stop() {
      await pool.end();
      await server.stop();
      fs.rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
