import { Link } from '@remix-run/react';
import { ChevronLeft, ChevronRight, Download } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { AuditPage as Page } from '../../server/console/audit.js';
import type { AuditFilters } from '../../server/console/audit-filters.js';
import { AuditFilterBar } from './audit-filter-bar';
import { AuditTable } from './audit-table';
import { EmptyState } from './ui/empty-state';
import { auditPath, auditQuery, isAuditFiltered, withAuditFilter } from '~/format/audit-words';
import { count } from '~/format/count';
import { useFreshAudit } from '~/fresh-audit';
import { useFreshRows } from '~/fresh-rows';
import { useReading } from '~/reading';

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
          <Export filters={filters} />
        </div>
      </div>
      <AuditFilterBar filters={filters} actions={actions} queues={queues} />
      {page.entries.length > 0 ? <AuditTable entries={page.entries} filters={filters} watch={watch} /> : <Nothing filtered={isAuditFiltered(filters) || !page.empty} />}
      <Pages page={page} filters={filters} />
    </>
  );
}

function Export({ filters }: { filters: AuditFilters }) {
  const query = auditQuery({ ...filters, before: null, after: null });
  const href = (format: string) => `/audit/export${query === '' ? '?' : `${query}&`}format=${format}`;
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="btn"><Download aria-hidden />Export</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={6}>
          <DropdownMenu.Item asChild><a className="menu-item" href={href('csv')} download>CSV, for a spreadsheet</a></DropdownMenu.Item>
          <DropdownMenu.Item asChild><a className="menu-item" href={href('json')} download>JSON, for a script</a></DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
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

function Pages({ page, filters }: { page: Page; filters: AuditFilters }) {
  const to = (change: Partial<AuditFilters>) => auditPath(withAuditFilter(filters, change));
  if (page.next === null && page.previous === null && filters.before === null) return null;
  return (
    <nav className="pager" aria-label="Pages">
      {page.previous !== null || filters.before !== null ? <Link className="btn" to={to({})}>Newest</Link> : null}
      {page.previous !== null ? <Link className="btn" rel="prev" to={to({ after: page.previous })}><ChevronLeft aria-hidden />Newer</Link> : null}
      {page.next !== null ? <Link className="btn" rel="next" to={to({ before: page.next })}>Older<ChevronRight aria-hidden /></Link> : null}
    </nav>
  );
}
