import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openSpool } from '../../server/api/spool.js';
import type { Config } from '../../server/config.js';
import { createApp, type AppParts } from '../../server/http/app.js';
import { createLogger, type Logger } from '../../server/log.js';
import { listen } from '../../server/main/http-server.js';
import { endWorld, makeWorld, type World } from '../../server/main/world.js';
import { createApiToken, createOperator, createSigninLink, type OperatorRole } from '../../server/operations/accounts.js';
import { redeemSigninLink } from '../../server/operations/sign-in.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

export interface WebUnderTest {
  url: string;
  port: number;
  world: World;
  /** Where uploads are spooled; holds one folder of this process. */
  spoolFolder: string;
  close(): Promise<void>;
}

let serial = 0;

/** The real app on a free port, over a test database. `parts` adds pages, files or streams. */
export async function startWeb(database: TestDatabase, options: { config?: Partial<Config>; parts?: (world: World) => Partial<AppParts>; log?: Logger; spoolBytes?: number; silenceMs?: number } = {}): Promise<WebUnderTest> {
  const config = database.config({ databasePoolMax: 10, publicUrl: undefined, ...options.config });
  const world = makeWorld({ config, log: options.log ?? createLogger({ level: 'silent', name: 'test' }), processId: `test-${serial++}` });
  const spoolFolder = await mkdtemp(path.join(os.tmpdir(), 'leaseboard-test-spool-'));
  const spool = await openSpool({ parent: spoolFolder, maxBytes: options.spoolBytes ?? 4e9 });
  world.listener.start();
  await until(() => world.listener.state().up, { what: 'listening' });
  const server = await listen(createApp(world, { spool, silenceMs: options.silenceMs, ...options.parts?.(world) }), { host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    world,
    spoolFolder,
    async close() {
      await server.close(1000);
      await endWorld(world);
      await spool.close();
      await rm(spoolFolder, { recursive: true });
    },
  };
}

/** A new API token. */
export async function apiToken(database: TestDatabase): Promise<string> {
  const token = await createApiToken(database.pool, `test-${serial++}`);
  if (!token) throw new Error('The token was not made');
  return token;
}

/** The Cookie header of someone who has just signed in. */
export async function signedIn(database: TestDatabase, role: OperatorRole = 'viewer'): Promise<{ cookie: string; operatorId: string }> {
  const operator = await createOperator(database.pool, `${role} ${serial++}`, role);
  const redeemed = await redeemSigninLink(database.pool, await createSigninLink(database.pool, operator!.id), 'test');
  if (!redeemed.ok) throw new Error(redeemed.reason);
  return { cookie: `lb_session=${redeemed.session}`, operatorId: operator!.id };
}
