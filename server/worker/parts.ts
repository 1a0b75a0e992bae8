import type pg from 'pg';
import type { Listener } from '../bus/listener.js';
import type { RowHints } from '../bus/row-hints.js';
import type { Config } from '../config.js';
import type { ReservedConnection } from '../db/reserved.js';
import type { Handlers } from '../lease/handler.js';
import type { Holder } from '../lease/pump.js';
import type { QueueDefinition } from '../lease/queues.js';
import type { Logger } from '../log.js';

/** What a worker is made of; process.ts puts it together. */
export interface WorkerParts {
  config: Config;
  holder: Holder;
  queues: readonly QueueDefinition[];
  registry: readonly QueueDefinition[];
  handlers: Handlers;
  pool: pg.Pool;
  pumpConnection: ReservedConnection;
  beatConnection: ReservedConnection;
  listener: Listener;
  hints: RowHints;
  register(): Promise<void>;
  log: Logger;
}
