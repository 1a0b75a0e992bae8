import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import type { DB } from './generated.js';

/** Typed queries over an existing pool; do not destroy it, end the pool. */
export function createKysely(pool: pg.Pool): Kysely<DB> {
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
}
