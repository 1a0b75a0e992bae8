import { useEffect, useState } from 'react';
import type { AuditFilters } from '../server/console/audit-filters.js';
import { auditQuery } from '~/format/audit-words';

/** The audit is written a few times an hour, not a few times a second: it is asked, not streamed (ms). */
const ASK_MS = 4_000;

/** Ids of entries that belong on the first page and are not shown on it. Empty on later pages, while the tab is hidden, and while nothing answers. */
export function useFreshAudit(filters: AuditFilters, newest: string | null): string[] {
  const [fresh, setFresh] = useState<{ newest: string | null; ids: string[] }>({ newest, ids: [] });
  const first = filters.before === null && filters.after === null;
  const query = auditQuery({ ...filters, before: null, after: newest ?? '0' });
  useEffect(() => {
    if (!first) return;
    const controller = new AbortController();
    const timer = setInterval(() => document.hidden || void ask(query, controller.signal).then((ids) => setFresh({ newest, ids }), () => undefined), ASK_MS);
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [query, first, newest]);
  return fresh.newest === newest ? fresh.ids : [];
}

async function ask(query: string, signal: AbortSignal): Promise<string[]> {
  const response = await fetch(`/audit/fresh${query}`, { signal });
  return response.ok ? ((await response.json()) as { fresh: string[] }).fresh : [];
}
