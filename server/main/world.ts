import { createListener } from '../bus/listener.js';
import { createRowHints } from '../bus/row-hints.js';
import type { Config } from '../config.js';
import { applicationName, connectionConfig, createPool } from '../db/connection.js';
import { createKysely } from '../db/kysely.js';
import type { World } from '../http/load-context.js';
import type { Logger } from '../log.js';

export type { World } from '../http/load-context.js';

/** Makes what one web process shares. Connects lazily; the listener is started by the caller. End it with endWorld. */
export function makeWorld(parts: { config: Config; log: Logger; processId: string }): World {
  const { config, log, processId } = parts;
  const pool = createPool(config, { role: 'web', log });
  return {
    config,
    log,
    processId,
    pool,
    kysely: createKysely(pool),
    listener: createListener({
      connection: connectionConfig(config.databaseDirectUrl, { applicationName: applicationName('web/listener', config.appVersion) }),
      channels: { rows: config.rowsChannel, kick: config.kickChannel },
      log,
    }),
    hints: createRowHints({ send: (sql, params) => pool.query(sql, params), rowsChannel: config.rowsChannel, log }),
  };
}

/** Sends the last hints, then ends the listener and the pool. Never rejects. */
export async function endWorld(world: World): Promise<void> {
  await world.hints.flush();
  await world.listener.close();
  await world.pool.end().catch((error: unknown) => world.log.warn({ event: 'pool_end_failed', error }, 'The pool did not end cleanly'));
}
