/**
 * One direct connection kept for one purpose (pump, beats), which comes back by itself. Statements run one after the other. A statement
 * that meets a broken or silent connection rejects, the connection is destroyed, and the next statement opens another: nothing is retried
 * here, since only the caller knows what may run twice.
 */
import type pg from 'pg';
import type { Logger } from '../log.js';
import { isConnectionError } from './connection-errors.js';

export interface ReservedConnection {
  query(config: { text: string; values?: unknown[]; name?: string }): Promise<pg.QueryResult>;
  /** How often a connection was opened: a change means that answers may have been lost in between. */
  generation(): number;
  /** Ends the connection; statements after it reject. Idempotent. */
  close(): Promise<void>;
}

export interface ReservedOptions {
  connect: () => Promise<pg.Client>;
  /** Session settings, run once on each new connection. */
  setup: string;
  /** A statement without an answer for this long (ms) means a dead connection: server-side limits cannot see a cut cable. */
  answerTimeoutMs: number;
  log: Logger;
}

/** A cut cable swallows the goodbye too (ms). */
const GOODBYE_MS = 1_000;

export function createReservedConnection(options: ReservedOptions): ReservedConnection {
  let client: pg.Client | undefined;
  let generation = 0;
  let closed = false;
  let tail: Promise<unknown> = Promise.resolve();

  async function open(): Promise<pg.Client> {
    const opened = await options.connect();
    opened.once('end', () => { if (client === opened) client = undefined; });
    try {
      await opened.query(options.setup);
    } catch (error) {
      destroy(opened);
      throw error;
    }
    generation += 1;
    return opened;
  }

  async function run(config: { text: string; values?: unknown[]; name?: string }): Promise<pg.QueryResult> {
    if (closed) throw new Error('The reserved connection is closed.');
    const mine = (client ??= await open());
    try {
      return await answered(mine.query(config), options.answerTimeoutMs);
    } catch (error) {
      if (!isConnectionError(error) && !(error instanceof NoAnswer)) throw error;
      if (client === mine) client = undefined;
      destroy(mine);
      throw error;
    }
  }

  return {
    query(config) {
      const result = tail.then(() => run(config));
      tail = result.catch(() => {});
      return result;
    },
    generation: () => generation,
    async close() {
      closed = true;
      await tail;
      const last = client;
      client = undefined;
      if (last) await answered(last.end(), GOODBYE_MS).catch(() => destroy(last));
    },
  };
}

/** No answer within the limit. */
export class NoAnswer extends Error {
  /** As a lost connection looks to whoever decides about trying again. */
  readonly code = 'ETIMEDOUT';
}

async function answered<T>(query: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`The database did not answer within ${limitMs} ms.`)), limitMs);
  });
  query.catch(() => {});
  return Promise.race([query, late]).finally(() => clearTimeout(timer));
}

function destroy(client: pg.Client): void {
  client.on('error', () => {});
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
