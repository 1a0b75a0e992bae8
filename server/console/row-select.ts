import { sql, type Kysely } from 'kysely';
import type pg from 'pg';
import type { DB } from '../db/generated.js';
import { inTransaction } from '../db/transaction.js';
import type { QueueDefinition } from '../lease/queues.js';
import type { HolderView, RowView, Stamp } from './row-view.js';
import type { Reader } from './read.js';
import { ms, stamp, STATEMENT_TIMEOUT_MS } from './read.js';

export interface Database {
  kysely: Kysely<DB>;
  pool: pg.Pool;
}

/** The registry's names are the only identifiers that reach SQL text; this holds even if a declaration is mistyped. */
function name(identifier: string): string {
  if (!/^[a-z_]+$/.test(identifier)) throw new Error(`Expected a column or table name of the registry, got ${JSON.stringify(identifier)}.`);
  return identifier;
}

export function tableOf(queue: QueueDefinition) {
  return sql.raw(name(queue.table));
}

/** Rows by primary key, with their holder (or, if nobody holds them, their last one), newest first. Absent ids are left out. */
export async function selectRows(reader: Reader, queue: QueueDefinition, ids: readonly string[]): Promise<RowView[]> {
  if (ids.length === 0) return [];
  return (await rowsOf(queue, ids).execute(reader)).rows;
}

/** The same with their moment in one statement, for the live board, which asks ten times a second. Own transaction, for its statement timeout alone. */
export async function selectRowsNow({ kysely, pool }: Database, queue: QueueDefinition, ids: readonly string[]): Promise<Stamp & { rows: RowView[] }> {
  const { sql: text, parameters } = sql`select ${stamp}, coalesce((select json_agg(r order by r.id desc) from (${rowsOf(queue, ids)}) r), '[]') as rows`.compile(kysely);
  return inTransaction(pool, async (tx) => (await tx.query<Stamp & { rows: RowView[] }>(text, [...parameters])).rows[0]!, { timeoutMs: STATEMENT_TIMEOUT_MS });
}

function rowsOf(queue: QueueDefinition, ids: readonly string[]) {
  return sql<RowView>`
    select ${sql.lit(queue.table)} as "table", r.id, r.kind, r.schema_version as "schemaVersion", r.version::float8 as version, r.state, r.lease_token::text as "leaseToken",
      r.attempt, r.max_attempts as "maxAttempts", r.lost_leases as "lostLeases",
      ${ms('r.run_after')} as "runAfter", ${ms('r.claimed_at')} as "claimedAt", ${ms('r.heartbeat_at')} as "heartbeatAt",
      ${ms('r.lease_expires_at')} as "leaseExpiresAt", ${ms('r.progressed_at')} as "progressedAt",
      ${ms('r.created_at')} as "createdAt", ${ms('r.finished_at')} as "finishedAt",
      r.done, r.total, r.error_code as "errorCode", r.error_message as "errorMessage",
      ${holder('r.worker_id', 'w')} as worker, ${holder('l.worker_id', 'lw', 'l.worker_version')} as "lastWorker",
      ${columnsOf(queue)} as columns
    from ${tableOf(queue)} r
    left join workers w on w.id = r.worker_id
    left join lateral (
      select e.worker_id, e.worker_version from queue_events e
      where e.row_id = r.id and e.worker_id is not null and e.cause <> 'late_write' and r.worker_id is null
      order by e.id desc limit 1) l on true
    left join workers lw on lw.id = l.worker_id
    where r.id = any(${ids}::uuid[])
    order by r.id desc`;
}

function holder(id: string, worker: string, version = `${worker}.version`) {
  return sql.raw<HolderView | null>(`case when ${id} is null then null else json_build_object(
    'id', ${id}, 'label', coalesce(${worker}.label, ${id}), 'version', coalesce(${worker}.version, ${version}, '?')) end`);
}

/** jsonb, because there a bigint is a number again (counts and sizes here stay far below 2^53). */
function columnsOf(queue: QueueDefinition) {
  const pairs = queue.listColumns.map((column) => `'${name(column)}', r.${name(column)}`);
  return sql.raw<RowView['columns']>(`jsonb_build_object(${pairs.join(', ')})`);
}
