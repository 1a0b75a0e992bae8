import type { FilterState, QueueFilters } from '../../server/console/queue-filters.js';
import type { RowView } from '../../server/console/row-view.js';
import { shownState } from './state';

export const noFilters: QueueFilters = {
  states: [], worker: null, version: null, user: null, session: null, error: null, older: null, newer: null, before: null, after: null,
};

const UNITS = [['d', 86_400], ['h', 3_600], ['m', 60], ['s', 1]] as const;

/** The query of a queue page's URL, "" or "?…"; server/console/queue-filters.ts reads it back (tested to round-trip). */
export function filterQuery(filters: QueueFilters): string {
  const query = new URLSearchParams();
  if (filters.states.length > 0) query.set('state', filters.states.join(','));
  for (const name of ['worker', 'version', 'user', 'session', 'error'] as const) if (filters[name]) query.set(name, filters[name]);
  for (const name of ['older', 'newer'] as const) if (filters[name] !== null) query.set(name, shortSeconds(filters[name]));
  if (filters.before) query.set('before', filters.before);
  else if (filters.after) query.set('after', filters.after);
  const text = query.toString().replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
}

export function queuePath(slug: string, filters: Partial<QueueFilters> = {}): string {
  return `/queues/${slug}${filterQuery({ ...noFilters, ...filters })}`;
}

/** A change of filter starts at the newest page again. */
export function withFilter(filters: QueueFilters, change: Partial<QueueFilters>): QueueFilters {
  return { ...filters, before: null, after: null, ...change };
}

export function toggledState(filters: QueueFilters, state: FilterState): QueueFilters {
  const has = filters.states.includes(state);
  return withFilter(filters, { states: has ? filters.states.filter((other) => other !== state) : [...filters.states, state] });
}

/** Whether anything narrows the list (cursors do not). */
export function isFiltered(filters: QueueFilters): boolean {
  return filterQuery({ ...filters, before: null, after: null }) !== '';
}

/** 300 reads "5m". */
export function shortSeconds(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds % each === 0)!;
  return `${seconds / size}${unit}`;
}

/** Whether a row belongs to the filtered list now (milliseconds, database clock): decides what the live board adds to the "n new" pill. */
export function matches(filters: QueueFilters, row: RowView, now: number): boolean {
  return matchesState(filters, row, now) && matchesHolder(filters, row) && matchesAge(filters, row, now)
    && (filters.user === null || row.columns.user_id === filters.user)
    && (filters.session === null || row.columns.session_id === filters.session)
    && (filters.error === null || (row.errorCode === filters.error && (filters.states.length > 0 || row.state !== 'succeeded')))
    && (filters.before === null || row.id < filters.before)
    && (filters.after === null || row.id > filters.after);
}

function matchesState({ states }: QueueFilters, row: RowView, now: number): boolean {
  return states.length === 0 || states.includes(row.state) || states.includes(shownState(row, now));
}

function matchesHolder({ worker, version }: QueueFilters, row: RowView): boolean {
  if (worker !== null && row.worker?.id !== worker && row.worker?.label !== worker) return false;
  return version === null || row.worker?.version === version;
}

function matchesAge({ older, newer }: QueueFilters, row: RowView, now: number): boolean {
  const old = (now - row.createdAt) / 1000;
  return (older === null || old >= older) && (newer === null || old <= newer);
}
