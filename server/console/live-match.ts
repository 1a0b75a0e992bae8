import { queueByTable } from '../lease/queues.js';
import { wordsOfQueue } from '../lease/words.js';
import type { QueueFilters } from './queue-filters.js';
import type { RowView } from './row-view.js';

/**
 * Whether a row belongs to the filtered list (cursors aside) at `asOf`, as queue-query.ts decides it in SQL: a test holds the two together.
 * Milliseconds since 1970, database clock.
 */
export function matches(filters: QueueFilters, row: RowView, asOf: number): boolean {
  return matchesState(filters, row, asOf) && matchesHolder(filters, row) && matchesAge(filters, row, asOf)
    && (filters.user === null || row.columns.user_id === filters.user)
    && (filters.session === null || row.columns.session_id === filters.session)
    && (filters.error === null || row.errorCode === filters.error);
}

function matchesState({ states, worker, version, error }: QueueFilters, row: RowView, asOf: number): boolean {
  const queue = queueByTable(row.table);
  if (!queue) return false;
  const { held, done } = wordsOfQueue(queue);
  if (states.length === 0) return worker !== null || version !== null ? row.state === held : error === null || row.state !== done;
  if (states.includes(row.state)) return queue.states.includes(row.state);
  return states.includes('stale') && row.state === held && row.leaseExpiresAt !== null && row.leaseExpiresAt < asOf;
}

function matchesHolder({ worker, version }: QueueFilters, row: RowView): boolean {
  if (worker !== null && row.worker?.id !== worker && row.worker?.label !== worker) return false;
  return version === null || row.worker?.version === version;
}

function matchesAge({ older, newer }: QueueFilters, row: RowView, asOf: number): boolean {
  const seconds = (asOf - row.createdAt) / 1000;
  return (older === null || seconds >= older) && (newer === null || seconds <= newer);
}
