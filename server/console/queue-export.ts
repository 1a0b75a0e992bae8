import type { Kysely } from 'kysely';
import type { DB } from '../db/generated.js';
import type { QueueDefinition } from '../lease/queues.js';
import { exportList, iso, pageOf, type Cell, type ExportFormat } from './export.js';
import type { QueueFilters } from './queue-filters.js';
import { matchingIds } from './queue-query.js';
import { readOnly, readStamp } from './read.js';
import { selectRows } from './row-select.js';
import type { RowView } from './row-view.js';

/** The filtered list of a queue, as export.ts says. @throws ReadTimeoutError */
export function exportRows(kysely: Kysely<DB>, queue: QueueDefinition, filters: QueueFilters, format: ExportFormat, cap?: number): AsyncGenerator<string> {
  return exportList({
    noun: 'rows', headings: [...SHARED, ...queue.listColumns], cells: (row: RowView) => cells(queue, row),
    page: async (before, limit) => pageOf(await readBatch(kysely, queue, { ...filters, before, after: null }, limit + 1), limit),
  }, format, cap);
}

async function readBatch(kysely: Kysely<DB>, queue: QueueDefinition, filters: QueueFilters, limit: number): Promise<RowView[]> {
  return readOnly(kysely, async (reader) => {
    const { asOf } = await readStamp(reader);
    const { rows } = await matchingIds(queue, filters, asOf, limit).execute(reader);
    return selectRows(reader, queue, rows.map((row) => row.id));
  });
}

const SHARED = [
  'id', 'state', 'attempt', 'max_attempts', 'lost_leases', 'lease_token', 'worker', 'worker_version', 'created_at', 'claimed_at',
  'heartbeat_at', 'lease_expires_at', 'run_after', 'finished_at', 'done', 'total', 'error_code', 'error_message',
] as const;

function cells(queue: QueueDefinition, row: RowView): Cell[] {
  const holder = row.worker ?? row.lastWorker;
  return [
    row.id, row.state, row.attempt, row.maxAttempts, row.lostLeases, row.leaseToken, holder?.label ?? null, holder?.version ?? null,
    iso(row.createdAt), iso(row.claimedAt), iso(row.heartbeatAt), iso(row.leaseExpiresAt), iso(row.runAfter), iso(row.finishedAt),
    row.done, row.total, row.errorCode, row.errorMessage, ...queue.listColumns.map((column) => row.columns[column] ?? null),
  ];
}
