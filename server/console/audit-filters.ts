import { cleanText } from '../db/text.js';
import { queueBySlug } from '../lease/queues.js';

/** What the audit page shows. All of it lives in the URL. */
export interface AuditFilters {
  actor: string | null;
  action: string | null;
  outcome: 'applied' | 'refused' | null;
  /** Slug of a queue. */
  queue: string | null;
  /** Whole id of what was acted on. */
  target: string | null;
  /** One bulk action, all its rows. */
  bulk: string | null;
  /** Milliseconds since 1970; `to` is left out itself. */
  from: number | null;
  to: number | null;
  /** Keyset cursors: entries older than this one, or newer than it. */
  before: string | null;
  after: string | null;
}

const LONGEST_VALUE = 300;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Ids are bigints; 18 digits always fit. */
const ENTRY = /^\d{1,18}$/;
/** As a datetime-local field sends it; read as UTC. */
const MINUTE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?)?$/;

/** Reads filters from a URL's query. Anything it does not understand is left out, so every URL gives a page. */
export function parseAuditFilters(query: URLSearchParams): AuditFilters {
  const outcome = query.get('outcome');
  const before = matching(ENTRY, query.get('before'));
  return {
    actor: text(query.get('actor')),
    action: matching(/^[a-z_]{1,60}$/, query.get('action')),
    outcome: outcome === 'applied' || outcome === 'refused' ? outcome : null,
    queue: queueBySlug(query.get('queue') ?? '')?.slug ?? null,
    target: text(query.get('target')),
    bulk: matching(UUID, query.get('bulk')?.toLowerCase() ?? null),
    from: instant(query.get('from')),
    to: instant(query.get('to')),
    before,
    after: before ? null : matching(ENTRY, query.get('after')),
  };
}

function text(value: string | null): string | null {
  const cleaned = value === null ? '' : cleanText(value).trim().slice(0, LONGEST_VALUE);
  return cleaned === '' ? null : cleaned;
}

function matching(pattern: RegExp, value: string | null): string | null {
  return value !== null && pattern.test(value) ? value : null;
}

function instant(value: string | null): number | null {
  if (value === null || !MINUTE.test(value)) return null;
  const at = Date.parse(`${value.length === 10 ? `${value}T00:00` : value}Z`);
  return Number.isNaN(at) ? null : at;
}
