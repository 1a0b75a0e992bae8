import type { LeasedState } from '../lease/queues.js';
import { cleanText } from '../db/text.js';

/** `stale` is not a column value: running, with a lease that has ended. */
export type FilterState = LeasedState | 'stale';

/** What a queue page shows. All of it lives in the URL. */
export interface QueueFilters {
  states: FilterState[];
  worker: string | null;
  version: string | null;
  user: string | null;
  session: string | null;
  error: string | null;
  /** Age in seconds: created at least / at most so long ago. */
  older: number | null;
  newer: number | null;
  /** Keyset cursors: rows older than this id, or newer than it. */
  before: string | null;
  after: string | null;
}

export const FILTER_STATES = [
  'awaiting', 'queued', 'running', 'building', 'stale', 'succeeded', 'live', 'failed', 'cancelled',
] as const satisfies readonly FilterState[];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const LONGEST_VALUE = 200;
const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** Reads filters from a URL's query. Anything it does not understand is left out, so every URL gives a page. */
export function parseQueueFilters(query: URLSearchParams): QueueFilters {
  const wanted = new Set(query.getAll('state').flatMap((value) => value.split(',')));
  const before = uuid(query.get('before'));
  return {
    states: FILTER_STATES.filter((state) => wanted.has(state)),
    worker: text(query.get('worker')),
    version: text(query.get('version')),
    user: text(query.get('user')),
    session: text(query.get('session')),
    error: text(query.get('error')),
    older: seconds(query.get('older')),
    newer: seconds(query.get('newer')),
    before,
    after: before ? null : uuid(query.get('after')),
  };
}

function text(value: string | null): string | null {
  const cleaned = value === null ? '' : cleanText(value).trim().slice(0, LONGEST_VALUE);
  return cleaned === '' ? null : cleaned;
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

function uuid(value: string | null): string | null {
  const lower = value?.toLowerCase() ?? '';
  return isUuid(lower) ? lower : null;
}

/** "90", "90s", "5m", "1h", "2d" in seconds. */
function seconds(value: string | null): number | null {
  const match = /^(\d{1,7})([smhd]?)$/.exec(value?.trim() ?? '');
  if (!match) return null;
  const unit = (match[2] || 's') as keyof typeof UNIT_SECONDS;
  const result = Number(match[1]) * UNIT_SECONDS[unit];
  return result > 0 && result <= 3_650 * UNIT_SECONDS.d ? result : null;
}
