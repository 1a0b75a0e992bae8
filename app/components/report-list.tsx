import { Link } from '@remix-run/react';
import clsx from 'clsx';
import { lazy } from 'react';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import type { QueuePage } from '../../server/console/queue-page.js';
import type { ReportAbout, ReportsPage } from '../../server/console/reports.js';
import type { RowView } from '../../server/console/row-view.js';
import { Age } from './age';
import { OutsideId, OutsideName, ShortId } from './names';
import { LeftOut } from './left-out';
import { Pager } from './pager';
import { ReportFilterBar } from './report-filter-bar';
import { VerdictBar } from './report-verdict';
import { StateMark } from './state-mark';
import { EmptyState } from './ui/empty-state';
import { Later } from './ui/later';
import { counted } from '~/format/count';
import { filterQuery, isFiltered, matches, noFilters, withFilter } from '~/format/filters';
import { checkedOf } from '~/format/journey';
import { reportPath, reportsPath, verdictLooks } from '~/format/report-words';
import { sessionPath } from '~/format/session-words';
import { shownState } from '~/format/state';
import { useCursor } from '~/cursor';
import { useFollow } from '~/follow';
import { useFreshRows } from '~/fresh-rows';
import { useLiveRows, useLiveView, useNow } from '~/live/use-live';
import { useReading } from '~/reading';

const ExportMenu = lazy(() => import('./export-menu'));

/** Reports, newest first. States and progress are live; verdicts are read again when a report changes its state. */
export function ReportList({ page, filters }: { page: ReportsPage; filters: QueueFilters }) {
  const topic = `queue:${page.queue.slug}${filterQuery(filters)}`;
  const view = useLiveView<QueuePage>(topic, page);
  const { rows, fresh: waiting } = useLiveRows(topic, page.rows, filters);
  const cursor = useCursor(rows, (id) => reportPath(id));
  const { reading, watch } = useReading(cursor);
  const fresh = useFreshRows(waiting, reading);
  useFollow(rows.map((row) => `${row.id}${row.state}`).join());
  return (
    <>
      <div className="queue-head">
        <h1>Reports</h1>
        <span className="dim">{counted(view.matching, 'report')}</span>
        <div className="queue-tools">{fresh.count > 0 ? <button type="button" className="pill" onClick={fresh.show} aria-live="polite">{fresh.count} new</button> : null}<Later><ExportMenu path={`/queues/${page.queue.slug}/export`} query={filterQuery({ ...filters, before: null, after: null })} /></Later></div>
      </div>
      <ReportFilterBar page={view} filters={filters} />
      <LeftOut understood={filterQuery(filters)} />
      {rows.length > 0 ? <div className="card table-wrap" {...watch}><Table rows={rows} about={page.about} filters={filters} cursor={cursor} /></div> : <Nothing filtered={isFiltered(filters) || !page.empty} />}
      <Pager page={page} before={filters.before} to={(change) => reportsPath(withFilter(filters, change))} />
    </>
  );
}

function Table({ rows, about, filters, cursor }: { rows: RowView[]; about: ReportsPage['about']; filters: QueueFilters; cursor: string | null }) {
  const now = useNow();
  return (
    <table className="table stack" aria-label="Reports">
      <thead>
        <tr>
          <th scope="col">State</th><th scope="col">Thesis</th><th scope="col" className="r">Checked</th><th scope="col">Verdicts</th><th scope="col">Judge</th>
          <th scope="col">User</th><th scope="col">Session</th><th scope="col" className="r">Age</th><th scope="col" className="r">Ended</th>
        </tr>
      </thead>
      <tbody>{rows.map((row) => <Row key={row.id} row={row} about={about[row.id]} left={!matches(filters, row, now)} cursor={cursor === row.id} now={now} />)}</tbody>
    </table>
  );
}

function Row({ row, about, left, cursor, now }: { row: RowView; about: ReportAbout | undefined; left: boolean; cursor: boolean; now: number }) {
  const user = String(row.columns.user_id);
  const session = String(row.columns.session_id);
  const { done, total } = checkedOf(row);
  return (
    <tr data-row-id={row.id} data-cursor={cursor} className={left ? 'left-list' : undefined}>
      <td className="mark"><StateMark state={shownState(row, now)} /></td>
      <td className="first"><Link className="row-link" discover="none" to={reportPath(row.id)}>{about?.thesis ? <OutsideName name={about.thesis} width="30ch" /> : <ShortId id={row.id} />}</Link></td>
      <td className="r" data-label="checked">{total === 0 && about?.claimsTotal === null ? <span className="dim">–</span> : <>{done} of {total}</>}</td>
      <td><Verdicts about={about} /></td>
      <td className="hide-narrow"><bdi className="mono soft">{row.columns.judge ?? '–'}</bdi></td>
      <td className="hide-narrow"><Link className="quiet-link" discover="none" to={reportsPath(withFilter(noFilters, { user }))}><OutsideId id={user} /></Link></td>
      <td data-label="session"><Link className="quiet-link" discover="none" to={sessionPath(session, user)}><OutsideId id={session} /></Link></td>
      <td className="r" data-label="age"><Age at={row.createdAt} /></td>
      <td className={clsx('r', row.finishedAt === null && 'hide-narrow')} data-label="ended">{row.finishedAt === null ? <span className="dim">–</span> : <Age at={row.finishedAt} suffix=" ago" />}</td>
    </tr>
  );
}

/** Only what a report ends with; what is open is told by the column before. */
function Verdicts({ about }: { about: ReportAbout | undefined }) {
  if (!about) return null;
  const ended = (['supported', 'partly_supported', 'not_supported', 'source_missing', 'not_checked'] as const).filter((verdict) => about.verdicts[verdict] > 0);
  if (ended.length === 0) return <span className="dim nothing">–</span>;
  return (
    <span className="verdict-cell">
      <VerdictBar counts={about.verdicts} />
      <span className="visually-hidden">{ended.map((verdict) => `${about.verdicts[verdict]} ${verdictLooks[verdict].word}`).join(', ')}</span>
    </span>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <div className="card">
      {filtered ? (
        <EmptyState title="Nothing matches">
          <p className="soft">No report fits these filters now. One that starts to fit appears here by itself.</p>
          <Link className="btn" to="/reports">Clear the filters</Link>
        </EmptyState>
      ) : (
        <EmptyState title="No report yet">
          <p className="soft">A report begins when the product backend asks for the analysis of a thesis whose session has sources; it appears here by itself and tells its journey from the upload to the verdicts.</p>
          <p className="soft">Ask for one with <code>POST /api/analysis-jobs</code> and <code>{'{ userId, sessionId, thesisDocumentId }'}</code>; the document's id is in the answer of its parse job.</p>
        </EmptyState>
      )}
    </div>
  );
}
