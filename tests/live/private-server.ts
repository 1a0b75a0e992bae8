import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ensureEmbedded } from '../../server/db/embedded.js';
import { migrate } from '../../server/db/migrate.js';
import { createLogger } from '../../server/log.js';

export interface PrivateServer {
  url: string;
  stop(): Promise<void>;
  /** Same data, same port, another life. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** A Postgres of this test's own, migrated, that it may stop and start without harming others. */
export async function privateServer(): Promise<PrivateServer> {
  const log = createLogger({ level: 'fatal', name: 'test', destination: 2 });
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'leaseboard-test-private-'));
  const ensure = () => ensureEmbedded({ dataDir, log, settings: { fsync: 'off' } });
  let server = await ensure();
  await migrate({ directUrl: server.url, migrationsDir: path.resolve(import.meta.dirname, '../../sql/migrations'), log });
  return {
    url: server.url,
    stop: () => server.stop(),
    async start() {
      server = await ensure();
    },
    async remove() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
