/**
 * Keeps the embedded server running while its starter lives: holds one idle connection, and when that ends (the server was killed, or
 * somebody restarts it) makes sure of the server again. One that was stopped on purpose, through `stop`, stays stopped.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../log.js';
import { connectionConfig } from './connection.js';
import { ensureEmbedded, type Embedded } from './embedded.js';

const TRY_AGAIN_MS = 1000;

/** Watches over `embedded`; `stop` ends the watch and then the server. */
export async function keepEmbedded(options: { dataDir: string; log: Logger }): Promise<Embedded> {
  const embedded = await ensureEmbedded(options);
  let client: pg.Client | undefined;
  let stopped = false;

  async function watch(): Promise<void> {
    while (!stopped) {
      try {
        client = await connect((await ensureEmbedded(options)).url);
        await ended(client);
        if (!stopped) options.log.warn({ event: 'embedded_lost' }, 'The embedded database ended; making sure of it');
      } catch (error) {
        options.log.error({ event: 'embedded_unsure', error }, 'The embedded database could not be started again; trying once more');
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  void watch();
  return {
    ...embedded,
    async stop() {
      stopped = true;
      await client?.end().catch(() => {});
      await embedded.stop();
    },
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(connectionConfig(url, { applicationName: 'leaseboard supervisor' }));
  client.on('error', () => {});
  await client.connect();
  return client;
}

function ended(client: pg.Client): Promise<void> {
  return new Promise(resolve => { client.once('end', () => resolve()); });
}
