import { encode } from '../bus/topics.js';
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
 * Inserts one row and its `enqueue` event, and with `kicks` wakes the workers of its queue, in one statement: work that is admitted without
 * looking at anything else needs no transaction around it. Otherwise run it in the transaction that admits the work, and of several rows
 * let the last one kick. run_after is the clock of the statement, not of a transaction that may have waited.
 */
export async function enqueue(tx: Queryable, queue: QueueDefinition, row: NewRow, kicks?: { kickChannel: string }): Promise<void> {
  const staged = queue.staged ? [queue.staged.clockColumn] : [];
  const names = ['id', 'state', 'kind', 'schema_version', 'max_attempts', ...Object.keys(row.columns)];
  const values = [
    row.id, row.state ?? 'queued', row.kind ?? Object.keys(queue.kinds)[0], row.schemaVersion ?? 1, row.maxAttempts ?? 3, ...Object.values(row.columns),
  ];
  const clock = staged.map(() => `, coalesce((select ran_seconds from queue_clocks where queue = '${queue.table}'), 0)`);
  const logged = `insert into queue_events (${EVENT_COLUMNS})
           select '${queue.table}', id, parent_id, null, state, 'enqueue', null, null, null, null, null, null from added`;
  await tx.query({
    text: `with added as (
             insert into ${queue.table} as t (${[...names, ...staged].join(', ')}, run_after, queued_at, created_at)
             values (${names.map((_, index) => `$${index + 1}`).join(', ')}${clock.join('')}, clock_timestamp(), clock_timestamp(), clock_timestamp())
             returning t.id, t.state, ${queue.parent ? `t.${queue.parent.column}` : 'null::uuid'} as parent_id)
           ${kicks ? `, logged as (${logged}) select pg_notify($${names.length + 1}, $${names.length + 2})` : logged}`,
    values: kicks ? [...values, kicks.kickChannel, ...encode({ q: queue.table })] : values,
  });
}

/** Rows of one statement: about a megabyte of claims. */
const BATCH = 1000;

/**
 * Inserts many rows of one shape and their `enqueue` events, in as few statements as may be; otherwise as `enqueue`. A row may come in ended
 * (`succeeded`) when there is nothing left to do about it. Values travel as JSON: text must have passed cleanText.
 */
export async function enqueueAll(tx: Queryable, queue: QueueDefinition, rows: readonly Record<string, unknown>[]): Promise<void> {
  const kind = Object.keys(queue.kinds)[0];
  const names = ['id', 'state', ...Object.keys(rows[0] ?? {}).filter((name) => name !== 'id' && name !== 'state')].join(', ');
  for (let at = 0; at < rows.length; at += BATCH) {
    await tx.query({
      text: `with added as (
               insert into ${queue.table} as t (${names}, kind, finished_at, run_after, queued_at, created_at)
               select ${names}, $2, case when state = 'succeeded' then clock_timestamp() end, statement_timestamp(), statement_timestamp(), statement_timestamp()
                 from jsonb_populate_recordset(null::${queue.table}, $1)
               returning t.id, t.state, ${queue.parent ? `t.${queue.parent.column}` : 'null::uuid'} as parent_id)
             insert into queue_events (${EVENT_COLUMNS})
             select '${queue.table}', id, parent_id, null, state, 'enqueue', null, null, null, null, null, null from added`,
      values: [JSON.stringify(rows.slice(at, at + BATCH)), kind],
    });
  }
}
