import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertParseItem, sql } from '../support/factories.js';
import type { RowState } from '../support/factories.js';

/** A row id as it would have been made so many seconds ago. */
export function idFrom(secondsAgo: number): string {
  return uuidv7({ msecs: Date.now() - secondsAgo * 1000 });
}

type Values = Parameters<typeof insertParseItem>[1];

/** An item created so many seconds ago, id and columns agreeing. */
export function itemFrom(db: pg.Pool, secondsAgo: number, values: Values & { state?: RowState } = {}) {
  const at = sql(`now() - interval '${secondsAgo} seconds'`);
  return insertParseItem(db, { id: idFrom(secondsAgo), created_at: at, run_after: at, queued_at: at, ...values });
}

/** A running item whose lease ended so many seconds ago. */
export function staleItem(db: pg.Pool, secondsAgo: number, values: Values = {}) {
  return itemFrom(db, secondsAgo + 120, {
    state: 'running', heartbeat_at: sql(`now() - interval '${secondsAgo + 60} seconds'`), lease_expires_at: sql(`now() - interval '${secondsAgo} seconds'`), ...values,
  });
}
