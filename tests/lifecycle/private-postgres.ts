import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ensureEmbedded } from '../../server/db/embedded.js';
import { migrate } from '../../server/db/migrate.js';
import { createLogger } from '../../server/log.js';
import { until } from '../support/until.js';
import { isGone } from './parsers-of.js';

/** Fast: sessions are ended, everything is written. Immediate: as after a crash, but the postmaster ends its children. Kill: nobody ends anybody. */
export type Ending = 'fast shutdown' | 'immediate shutdown' | 'kill -9';

const SIGNALS = { 'fast shutdown': 'SIGINT', 'immediate shutdown': 'SIGQUIT', 'kill -9': 'SIGKILL' } as const;

export interface PrivatePostgres {
  url: string;
  /** Resolves when the postmaster is gone. */
  end(how: Ending): Promise<void>;
  /** Same data, same port. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** A migrated Postgres of this test's own, under the supervisor that `npm start` uses. `settings` are the server's. */
export async function privatePostgres(settings: Record<string, string> = {}): Promise<PrivatePostgres> {
  const log = createLogger({ level: 'fatal', name: 'test', destination: 2 });
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'leaseboard-test-postgres-'));
  const ensure = () => ensureEmbedded({ dataDir, log, settings: { fsync: 'off', ...settings } });
  let server = await ensure();
  await migrate({ directUrl: server.url, migrationsDir: path.resolve(import.meta.dirname, '../../sql/migrations'), log });
  return {
    url: server.url,
    async end(how) {
      const pid = Number((await readFile(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
      process.kill(pid, SIGNALS[how]);
      await until(() => isGone(pid), { timeoutMs: 20_000, what: 'the end of Postgres' });
    },
    async start() {
      server = await ensure();
    },
    async remove() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
