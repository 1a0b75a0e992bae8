import type { Kysely, Transaction } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import type { Stamp } from './row-view.js';

/** Longer than any healthy page query (milliseconds here), short enough that a page under load shows its banner instead of hanging. */
export const STATEMENT_TIMEOUT_MS = 3_000;

export type Reader = Transaction<DB>;

/** A page query took longer than the console allows itself. The page says so and keeps what it has. */
export class ReadTimeoutError extends Error {
  constructor(options: { cause: unknown }) {
    super(`The database did not answer within ${STATEMENT_TIMEOUT_MS / 1000} s.`, options);
    this.name = 'ReadTimeoutError';
  }
}

/**
 * Runs a page's queries in one read-only transaction: one clock (`now()`) and one snapshot for all of them, so that its counts agree with each
 * other, and a short timeout that ends with it.
 * @throws ReadTimeoutError when a statement exceeds the timeout; otherwise what pg throws.
 */
export async function readOnly<T>(kysely: Kysely<DB>, read: (reader: Reader) => Promise<T>): Promise<T> {
  try {
    return await kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(async (reader) => {
      await sql`select set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true)`.execute(reader);
      return read(reader);
    });
  } catch (error) {
    if (isStatementTimeout(error)) throw new ReadTimeoutError({ cause: error });
    throw error;
  }
}

function isStatementTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '57014';
}

/** The moment of this transaction and the life of the server, in milliseconds since 1970. */
export async function readStamp(reader: Reader): Promise<Stamp> {
  return (await sql<Stamp>`select ${stamp}`.execute(reader)).rows[0]!;
}

/** SQL text that turns a timestamptz expression (ours, never outside text) into milliseconds since 1970, as a JS number. */
export function ms(expression: string) {
  return sql.raw<number>(`round(extract(epoch from ${expression}) * 1000)::float8`);
}

/** The columns of a stamp. */
export const stamp = sql`${ms('now()')} as "asOf", ${ms('pg_postmaster_start_time()')} as epoch`;

/** The smallest UUIDv7 of an instant (milliseconds since 1970): ids order by time, so a time bound can walk the primary key. */
export function uuidFloor(instantMs: number): string {
  const hex = Math.max(0, Math.floor(instantMs)).toString(16).padStart(12, '0').slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** A page that could not be read in time is a page with a banner, not an error: null stands for it. */
export async function unlessTooSlow<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ReadTimeoutError) return null;
    throw error;
  }
}
