import { Link } from '@remix-run/react';
import type { CitationFilters } from '../../server/console/report-filters.js';
import type { ReportPage as Page } from '../../server/console/report.js';
import type { RowView, Stamp } from '../../server/console/row-view.js';
import { ActionButton } from './action-button';
import { Age } from './age';
import { Journey } from './journey';
import { OutsideName, ShortId } from './names';
import { ReportCitations } from './report-citations';
import { ReportFacts } from './report-facts';
import { StateMark } from './state-mark';
import { CopyButton } from './ui/copy-button';
import { errorMeaning } from '~/format/error-words';
import { hasEnded, possibleNow } from '~/format/possible';
import { orderOf } from '~/format/row-order';
import { shownState } from '~/format/state';
import { useLiveView, useNow } from '~/live/use-live';
import { useRights } from '~/rights';

/** A report, finished or on its way. The row follows along live; the rest is read again when the row says that something happened. */
export function ReportPage({ page, filters }: { page: Page; filters: CitationFilters }) {
  const { row } = useLiveView<Stamp & { row: RowView }>(`row:analysis-jobs:${page.row.id}`, page);
  const now = useNow();
  return (
    <>
      <p className="crumb"><Link className="link" to="/reports">Reports</Link><span className="dim"> / Report</span></p>
      <div className="row-head">
        <h1 className="min-w-0">{page.thesis ? <OutsideName name={page.thesis.filename} width="100%" /> : <>Erased thesis <ShortId id={row.id} /></>}</h1>
        <span className="row-state"><StateMark state={shownState(row, now)} /></span>
      </div>
      <p className="row-id">
        <span className="mono soft">{row.id}</span><CopyButton text={row.id} label="Copy id" className="quiet" />
        <span className="dim">asked for <Age at={row.createdAt} suffix=" ago" />{row.finishedAt !== null ? <>, ended <Age at={row.finishedAt} suffix=" ago" /></> : null}</span>
        <Link className="link" discover="none" to={`/queues/analysis-jobs/${row.id}`}>Lease and timeline</Link>
        <Repeat row={row} />
      </p>
      {row.errorCode ? <p className="error-text"><b>{row.state === 'failed' ? 'Failed' : 'Last failure'}: </b><bdi className="mono">{row.errorCode}</bdi>{errorMeaning(row.errorCode) ? <span className="soft"> · {errorMeaning(row.errorCode)}</span> : null}</p> : null}
      <Journey view={page.journey} latest={false} />
      <ReportFacts page={page} row={row} />
      <ReportCitations page={page} filters={filters} />
    </>
  );
}

/** Once it has ended: what could not be checked can be checked again. */
function Repeat({ row }: { row: RowView }) {
  const now = useNow();
  const { possible, why } = possibleNow('rekick', row, now, useRights());
  if (!hasEnded(row)) return null;
  return <ActionButton order={orderOf('rekick', row, 'analysis-jobs', 'report')} label="Check failed citations again" why={possible ? null : why} />;
}
