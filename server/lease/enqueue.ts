import { EVENT_COLUMNS } from './ending.js';
import type { Queryable } from './pump.js';
import type { QueueDefinition } from './queues.js';

export interface NewRow {
  /** UUIDv7, made by the caller, so that the answer can name it before the commit. */
  id: string;
  state?: 'queued' | 'awaiting';
  kind?: string;
  schemaVersion?: number;
  maxAttempts?: number;
  /** The queue's own columns (names from the code, never from outside). */
  columns: Record<string, unknown>;
}

/**
 * Inserts one row and its `enqueue` event in one statement. Must run in the transaction that admits the work; kick the queue in the same
 * transaction once all rows are in (bus/kick.ts). run_after is the clock of the statement, not of a transaction that may have waited.
 */
export async function enqueue(tx: Queryable, queue: QueueDefinition, row: NewRow): Promise<void> {
  const staged = queue.staged ? [queue.staged.clockColumn] : [];
  const names = ['id', 'state', 'kind', 'schema_version', 'max_attempts', ...Object.keys(row.columns)];
  const values = [
    row.id, row.state ?? 'queued', row.kind ?? Object.keys(queue.kinds)[0], row.schemaVersion ?? 1, row.maxAttempts ?? 3, ...Object.values(row.columns),
  ];
  const clock = staged.map(() => `, coalesce((select ran_seconds from queue_clocks where queue = '${queue.table}'), 0)`);
  await tx.query({
    text: `with added as (
             insert into ${queue.table} as t (${[...names, ...staged].join(', ')}, run_after, queued_at, created_at)
             values (${names.map((_, index) => `$${index + 1}`).join(', ')}${clock.join('')}, clock_timestamp(), clock_timestamp(), clock_timestamp())
             returning t.id, t.state, ${queue.parent ? `t.${queue.parent.column}` : 'null::uuid'} as parent_id)
           insert into queue_events (${EVENT_COLUMNS})
           select '${queue.table}', id, parent_id, null, state, 'enqueue', null, null, null, null, null, null from added`,
    values,
  });
}
