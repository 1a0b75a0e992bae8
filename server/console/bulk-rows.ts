import type { Kysely } from 'kysely';
import type { DB } from '../db/generated.js';
import type { QueueDefinition } from '../lease/queues.js';
import type { QueueFilters } from './queue-filters.js';
import { COUNT_CAP } from './queue-page.js';
import { matchingCount, matchingIds } from './queue-query.js';
import { readOnly, readStamp } from './read.js';
import { selectRows } from './row-select.js';
import type { RowView, Stamp } from './row-view.js';

/** Rows that one bulk action may be about; more are done by doing it again. */
export const BULK_CAP = 500;

export interface BulkRows extends Stamp {
  /** Newest first, at most BULK_CAP. */
  rows: RowView[];
  /** All that were asked for or match, counted up to COUNT_CAP. */
  wanted: number;
}

/** The rows of a selection (those that still exist), or all that match the filters. Own read-only transaction. @throws ReadTimeoutError */
export function readBulkRows(kysely: Kysely<DB>, queue: QueueDefinition, which: { ids: readonly string[] } | { filters: QueueFilters }): Promise<BulkRows> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    if ('ids' in which) return { ...stamp, rows: await selectRows(reader, queue, which.ids.slice(0, BULK_CAP)), wanted: which.ids.length };
    const everywhere = { ...which.filters, before: null, after: null };
    const ids = await matchingIds(queue, everywhere, stamp.asOf, BULK_CAP).execute(reader);
    const matching = await matchingCount(queue, everywhere, stamp.asOf, COUNT_CAP).execute(reader);
    return { ...stamp, rows: await selectRows(reader, queue, ids.rows.map((row) => row.id)), wanted: matching.rows[0]!.n };
  });
}
