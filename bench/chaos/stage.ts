/** What chaos happens to: a Postgres of its own, links to it that can be broken, a transaction pooler, an orchestrator, and five processes. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startStubOrchestrator, type StubOrchestrator } from '../../server/deployments/stub-orchestrator.js';
import { createApiToken } from '../../server/operations/accounts.js';
import { privatePostgres, type PrivatePostgres } from '../../tests/lifecycle/private-postgres.js';
import { chooseSkewing, type Skewing } from './clock.js';
import { Fleet } from './fleet.js';
import { openLink, type Link } from './link.js';
import { startPooler, type Pooler } from './pooler.js';
import { MAX_CONNECTIONS, SETTINGS } from './settings.js';

export interface Stage {
  folder: string;
  postgres: PrivatePostgres;
  /** Past links and pooler; errors of its connections are of no interest. */
  admin: pg.Pool;
  /** LISTEN, pump, beats and migrations go by this one. */
  direct: Link;
  /** And everything else by this one, which leads to the pooler. */
  pooled: Link;
  pooler: Pooler;
  stub: StubOrchestrator;
  skewing: Skewing;
  fleet: Fleet;
  token: string;
  /** Ends what is left. `keep` leaves the logs. */
  stop(keep: boolean): Promise<void>;
}

const BUILD_MS = 2_500;

export async function buildStage(): Promise<Stage> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-chaos-'));
  const postgres = await privatePostgres({ max_connections: String(MAX_CONNECTIONS) });
  const address = new URL(postgres.url);
  const admin = new pg.Pool({ connectionString: postgres.url, max: 4, application_name: 'chaos', connectionTimeoutMillis: 5_000, query_timeout: 15_000 } as pg.PoolConfig);
  admin.on('error', () => {}).on('connect', (client) => client.on('error', () => {}));
  const pooler = await startPooler(postgres.url, folder);
  const direct = await openLink({ host: address.hostname, port: () => Number(address.port) });
  const pooled = await openLink({ host: '127.0.0.1', port: () => pooler.port });
  const stub = await startStubOrchestrator({ token: 'chaos', behaviour: { buildMs: BUILD_MS } });
  const by = (port: number) => Object.assign(new URL(postgres.url), { port: String(port) }).href;
  const skewing = chooseSkewing();
  const fleet = new Fleet({
    folder, skewing,
    env: {
      ...SETTINGS, DATABASE_URL: by(pooled.port), DATABASE_DIRECT_URL: by(direct.port), SESSION_SECRET: 'c'.repeat(40), PORT: '0', LOG_LEVEL: 'info',
      ORCHESTRATOR_URL: stub.url, ORCHESTRATOR_TOKEN: stub.token,
    },
  });
  return {
    folder, postgres, admin, direct, pooled, pooler, stub, skewing, fleet,
    token: (await createApiToken(admin, 'chaos'))!,
    async stop(keep) {
      await fleet.killAll();
      await admin.end().catch(() => {});
      await Promise.all([direct.close(), pooled.close(), pooler.stop(), stub.close()]);
      await postgres.remove();
      if (!keep) fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
