import type { Kysely } from 'kysely';
import type { DB } from '../db/generated.js';
import type { QueueDefinition } from '../lease/queues.js';
import { csvLine } from './csv.js';
import type { QueueFilters } from './queue-filters.js';
import { matchingIds } from './queue-query.js';
import { readOnly, readStamp } from './read.js';
import { selectRows } from './row-select.js';
import type { RowView } from './row-view.js';

export type ExportFormat = 'csv' | 'json';

/** An export ends here and says so in its last line: longer lists are read from the tables themselves. */
export const EXPORT_CAP = 50_000;
const BATCH = 1_000;

/**
 * The filtered list, newest first, in batches that each are a short transaction: the database holds nothing open while a slow client reads.
 * Rows that change meanwhile appear as they were when their batch was read. @throws ReadTimeoutError
 */
export async function* exportRows(kysely: Kysely<DB>, queue: QueueDefinition, filters: QueueFilters, format: ExportFormat, cap = EXPORT_CAP): AsyncGenerator<string> {
  let written = 0;
  let cursor: string | null = null;
  if (format === 'csv') yield csvLine(headings(queue));
  else yield '{"rows":[';
  for (;;) {
    const limit = Math.min(BATCH, cap - written) + 1;
    const batch = await readBatch(kysely, queue, { ...filters, before: cursor, after: null }, limit);
    const more = batch.length === limit;
    const rows = more ? batch.slice(0, -1) : batch;
    if (rows.length > 0) yield format === 'csv' ? rows.map((row) => csvLine(cells(queue, row))).join('') : jsonPart(rows, written === 0);
    written += rows.length;
    cursor = rows.at(-1)?.id ?? null;
    if (!more || written >= cap) {
      yield ending(format, written, more);
      return;
    }
  }
}

async function readBatch(kysely: Kysely<DB>, queue: QueueDefinition, filters: QueueFilters, limit: number): Promise<RowView[]> {
  return readOnly(kysely, async (reader) => {
    const { asOf } = await readStamp(reader);
    const { rows } = await matchingIds(queue, filters, asOf, limit).execute(reader);
    return selectRows(reader, queue, rows.map((row) => row.id));
  });
}

function ending(format: ExportFormat, written: number, more: boolean): string {
  if (format === 'json') return `],"count":${written},"complete":${!more}}\n`;
  return more ? csvLine([`Stopped after ${written} rows: more rows match. Narrow the filter to export the rest.`]) : '';
}

function jsonPart(rows: RowView[], first: boolean): string {
  return (first ? '' : ',') + rows.map((row) => JSON.stringify(row)).join(',');
}

const SHARED = [
  'id', 'state', 'attempt', 'max_attempts', 'lost_leases', 'lease_token', 'worker', 'worker_version', 'created_at', 'claimed_at',
  'heartbeat_at', 'lease_expires_at', 'run_after', 'finished_at', 'done', 'total', 'error_code', 'error_message',
] as const;

function headings(queue: QueueDefinition): string[] {
  return [...SHARED, ...queue.listColumns];
}

function cells(queue: QueueDefinition, row: RowView): (string | number | null)[] {
  const holder = row.worker ?? row.lastWorker;
  return [
    row.id, row.state, row.attempt, row.maxAttempts, row.lostLeases, row.leaseToken, holder?.label ?? null, holder?.version ?? null,
    iso(row.createdAt), iso(row.claimedAt), iso(row.heartbeatAt), iso(row.leaseExpiresAt), iso(row.runAfter), iso(row.finishedAt),
    row.done, row.total, row.errorCode, row.errorMessage, ...queue.listColumns.map((column) => row.columns[column] ?? null),
  ];
}

function iso(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
