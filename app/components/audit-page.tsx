import { Link } from '@remix-run/react';
import { lazy } from 'react';
import type { AuditPage as Page } from '../../server/console/audit.js';
import type { AuditFilters } from '../../server/console/audit-filters.js';
import { AuditFilterBar } from './audit-filter-bar';
import { AuditTable } from './audit-table';
import { LeftOut } from './left-out';
import { Pager } from './pager';
import { EmptyState } from './ui/empty-state';
import { Later } from './ui/later';
import { auditPath, auditQuery, isAuditFiltered, withAuditFilter } from '~/format/audit-words';
import { count } from '~/format/count';
import { useFreshAudit } from '~/fresh-audit';
import { useFreshRows } from '~/fresh-rows';
import { useReading } from '~/reading';

const ExportMenu = lazy(() => import('./export-menu'));

interface Props {
  page: Page;
  filters: AuditFilters;
  actions: string[];
  queues: { slug: string; title: string }[];
}

/** Everything that people did or tried: who, when, what, to what, why, and what became of it. Written once, never changed. */
export function AuditPage({ page, filters, actions, queues }: Props) {
  const { reading, watch } = useReading(null);
  const fresh = useFreshRows(useFreshAudit(filters, page.entries[0]?.id ?? null), reading);
  return (
    <>
      <div className="queue-head">
        <h1>Audit</h1>
        <span className="dim" data-matching={page.matching}>{count(page.matching)} {page.matching === 1 ? 'entry' : 'entries'}</span>
        <div className="queue-tools">
          {fresh.count > 0 ? <button type="button" className="pill" onClick={fresh.show} aria-live="polite">{fresh.count > 50 ? 'more than 50' : fresh.count} new</button> : null}
          <Later><ExportMenu path="/audit/export" query={auditQuery({ ...filters, before: null, after: null })} /></Later>
        </div>
      </div>
      <AuditFilterBar filters={filters} actions={actions} queues={queues} />
      <LeftOut understood={auditQuery(filters)} />
      {page.entries.length > 0 ? <AuditTable entries={page.entries} filters={filters} watch={watch} /> : <Nothing filtered={isAuditFiltered(filters) || !page.empty} />}
      <Pager page={page} before={filters.before} to={(change) => auditPath(withAuditFilter(filters, change))} />
    </>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <div className="card">
      {filtered ? (
        <EmptyState title="Nothing matches">
          <p className="soft">Nothing that was done or tried fits these filters. An entry that fits appears here by itself.</p>
          <Link className="btn" to="/audit">Clear the filters</Link>
        </EmptyState>
      ) : (
        <EmptyState title="Nobody has done anything yet">
          <p className="soft">Every release, re-kick, cancel, drain, pause and erasure appears here: who did it, when, to what, why, and what changed. What was refused is kept as well, with the reason.</p>
          <p className="soft">Nobody can change an entry from this console.</p>
        </EmptyState>
      )}
    </div>
  );
}
