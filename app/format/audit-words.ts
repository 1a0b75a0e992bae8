import type { AuditEntry } from '../../server/console/audit.js';
import type { AuditFilters } from '../../server/console/audit-filters.js';
import { queuePath } from './filters';
import { reportPath } from './report-words';
import { sessionPath } from './session-words';

export const noAuditFilters: AuditFilters = { actor: null, action: null, outcome: null, queue: null, target: null, bulk: null, from: null, to: null, before: null, after: null };

/** The audit page's address; server/console/audit-filters.ts reads it back (tested to round-trip). */
export function auditPath(filters: Partial<AuditFilters> = {}): string {
  return `/audit${auditQuery({ ...noAuditFilters, ...filters })}`;
}

export function auditQuery(filters: AuditFilters): string {
  const query = new URLSearchParams();
  for (const name of ['actor', 'action', 'outcome', 'queue', 'target', 'bulk'] as const) if (filters[name] !== null) query.set(name, filters[name]);
  for (const name of ['from', 'to'] as const) if (filters[name] !== null) query.set(name, minuteOf(filters[name]));
  if (filters.before !== null) query.set('before', filters.before);
  else if (filters.after !== null) query.set('after', filters.after);
  const text = query.toString().replaceAll('%3A', ':');
  return text === '' ? '' : `?${text}`;
}

/** As a datetime-local field has it, in UTC: "2026-11-30T14:02". */
export function minuteOf(at: number): string {
  const text = new Date(at).toISOString().slice(0, 19);
  return text.endsWith(':00') ? text.slice(0, 16) : text;
}

/** A change of filter starts at the newest page again. */
export function withAuditFilter(filters: AuditFilters, change: Partial<AuditFilters>): AuditFilters {
  return { ...filters, before: null, after: null, ...change };
}

export function isAuditFiltered(filters: AuditFilters): boolean {
  return auditQuery({ ...filters, before: null, after: null }) !== '';
}

export interface AuditTarget {
  /** What kind of thing it is. */
  kind: string;
  /** Its id, or the end of it. */
  name: string;
  href: string | null;
}

const nouns: Readonly<Record<string, string>> = { 'parse-jobs': 'parse job', 'parse-items': 'parse item', 'analysis-jobs': 'analysis', citations: 'citation', deployments: 'deployment' };

/** What was acted on, and where to look at it. */
export function auditTarget({ targetKind, targetId, queue, userId }: Pick<AuditEntry, 'targetKind' | 'targetId' | 'queue' | 'userId'>): AuditTarget {
  switch (targetKind) {
    case 'row': return { kind: nouns[queue ?? ''] ?? 'row', name: `…${targetId.slice(-8)}`, href: queue === null ? null : queue === 'deployments' ? `/deployments/${targetId}` : `/queues/${queue}/${targetId}` };
    case 'report': return { kind: 'report', name: `…${targetId.slice(-8)}`, href: reportPath(targetId) };
    case 'worker': return { kind: 'worker', name: targetId, href: '/workers' };
    case 'queue': return { kind: 'queue', name: queue ?? targetId, href: queue === null ? null : queuePath(queue) };
    case 'session': return { kind: 'session', name: targetId, href: userId === null ? null : sessionPath(targetId, userId) };
    case 'user': return { kind: 'user', name: targetId, href: `/sessions?q=${encodeURIComponent(targetId)}` };
    default: return { kind: targetKind, name: targetId, href: null };
  }
}

const ways: Readonly<Record<string, string>> = { page: 'on a page', bulk: 'in bulk', cli: 'on the command line', api: 'by the API' };

export function viaWords(via: string): string {
  return ways[via] ?? via;
}
