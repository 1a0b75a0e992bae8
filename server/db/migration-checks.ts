import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { MigrationError } from './migration-error.js';

/** Texts, sort order and the offsets of chunks all assume UTF8. */
export async function requireUtf8(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('show server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding === 'UTF8') return;
  throw new MigrationError('wrong_encoding', `The database must be encoded in UTF8, found ${encoding}. Create another: create database leaseboard encoding 'UTF8' template template0.`);
}

const ROUNDS = 3;
const POOLER_WAIT_MS = 5000;

/**
 * Refuses a connection whose backend changes between transactions: session locks, LISTEN and CREATE INDEX CONCURRENTLY would land on
 * somebody else's session. While `client` idles, a second connection opens a transaction: behind a transaction pooler it gets the first
 * one's backend, or the first one gets another afterwards.
 */
export async function refusePooler(client: pg.Client, connect: () => Promise<pg.Client>): Promise<void> {
  const second = await connect();
  try {
    for (let round = 0; round < ROUNDS; round++) await compareBackends(client, second);
  } finally {
    await second.end().catch(() => {});
  }
}

async function compareBackends(client: pg.Client, second: pg.Client): Promise<void> {
  const first = await backendOf(client);
  await second.query('begin');
  const other = await backendOf(second);
  const again = other === first ? first : await Promise.race([backendOf(client), pause(POOLER_WAIT_MS, undefined, { ref: false })]);
  await second.query('rollback');
  if (other !== first && again === first) return;
  throw new MigrationError('transaction_pooler', 'DATABASE_DIRECT_URL leads through a transaction pooler (the backend changes between transactions). Point it at Postgres itself, or at a session pool; DATABASE_URL may stay pooled.');
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}
