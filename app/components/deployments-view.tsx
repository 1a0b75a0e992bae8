import { Link } from '@remix-run/react';
import clsx from 'clsx';
import { lazy, useState } from 'react';
import type { DeploymentsPage } from '../../server/console/deployments.js';
import type { FilterState, QueueFilters } from '../../server/console/queue-filters.js';
import type { RowView } from '../../server/console/row-view.js';
import { DeploymentTable } from './deployment-table';
import { HostingNote } from './deployment-hosting';
import { LeftOut } from './left-out';
import { Pager } from './pager';
import { EmptyState } from './ui/empty-state';
import { Later } from './ui/later';
import { Shape } from './ui/shape';
import { count } from '~/format/count';
import { filterQuery, withFilter } from '~/format/filters';
import { stateLooks } from '~/format/state';
import { useLiveRows } from '~/live/use-live';
import { useReRead } from '~/re-read';

const ExportMenu = lazy(() => import('./export-menu'));

/** Releases and refusals are not in the leased row: they are read again when a publish begins or ends, and while one runs every so often (milliseconds). */
const LOOK_AGAIN_MS = 5_000;
const GATHER_MS = 300;

/** The apps: what is live, who holds each publish lock, who was refused meanwhile. */
export function DeploymentsView({ page, filters }: { page: DeploymentsPage; filters: QueueFilters }) {
  const live = useLiveRows(`queue:deployments${filterQuery(filters)}`, page.rows, filters);
  const [menu, setMenu] = useState<string | null>(null);
  useReadAgain(live.rows.some((row) => row.state === 'building'), changesOf(live.rows) !== changesOf(page.rows) || live.fresh.length > 0);
  return (
    <>
      <div className="queue-head">
        <h1>Deployments</h1>
        <span className="dim">one row an app; the row is its publish lock</span>
        <div className="queue-tools">
          <Link className="link" to="/queues/deployments">As a queue</Link>
          <Later><ExportMenu path="/queues/deployments/export" query={filterQuery({ ...filters, before: null, after: null })} /></Later>
        </div>
      </div>
      <HostingNote hosting={page.hosting} />
      <div className="chips mb-3">{(['building', 'live', 'failed'] as const).map((state) => <Chip key={state} state={state} page={page} filters={filters} />)}</div>
      <LeftOut understood={filterQuery(filters)} />
      {live.rows.length > 0 ? <DeploymentTable page={page} rows={live.rows} menu={menu} onMenu={setMenu} /> : <Nothing filtered={filters.states.length > 0} />}
      <Pager page={page} before={filters.before} to={(change) => `/deployments${filterQuery(withFilter(filters, change))}`} />
    </>
  );
}

function changesOf(rows: readonly RowView[]): string {
  return rows.map((row) => `${row.id} ${row.state} ${row.columns.publish_no}`).join();
}

export function useReadAgain(often: boolean, soon: boolean): void {
  useReRead(soon ? GATHER_MS : often ? LOOK_AGAIN_MS : null);
}

function Chip({ state, page, filters }: { state: FilterState; page: DeploymentsPage; filters: QueueFilters }) {
  const { word, tone, shape } = stateLooks[state];
  const on = filters.states.includes(state);
  const building = page.open.queued + page.open.running;
  return (
    <Link className={clsx('chip', on && 'on', `tone-${tone}`)} aria-current={on ? 'true' : undefined} data-chip={state} preventScrollReset
      to={`/deployments${filterQuery(withFilter(filters, { states: on ? [] : [state] }))}`}>
      <Shape name={shape} />{word}{state === 'building' ? <span className="chip-count">{count(building)}</span> : null}
    </Link>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <div className="card">
      {filtered ? <EmptyState title="No app is in this state"><p className="soft"><Link className="link" to="/deployments">Show all apps</Link></p></EmptyState> : (
        <EmptyState title="Nothing was published yet">
          <p className="soft">Each app appears here with its first publish: what is live, who holds its publish lock and since when, when a silent lock may be taken over, and who was refused meanwhile.</p>
          <p className="soft">A product backend publishes with <code>POST /api/projects/PROJECT/publish</code> and the JSON <code>{'{ "userId": "…", "slug": "my-app", "requestedBy": "button" }'}</code>.</p>
        </EmptyState>
      )}
    </div>
  );
}
