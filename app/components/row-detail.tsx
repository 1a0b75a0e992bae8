import { Link } from '@remix-run/react';
import type { RowPage } from '../../server/console/row-page.js';
import { Age } from './age';
import { LeaseCard } from './lease-card';
import { LinkedRows } from './linked-rows';
import { RowActions } from './row-actions';
import { StateMark } from './state-mark';
import { NewerWorker, Subject } from './row-cells';
import { Timeline } from './timeline';
import { CopyButton } from './ui/copy-button';
import { capitalised } from '~/format/count';
import { errorMeaning } from '~/format/error-words';
import { queuePath } from '~/format/filters';
import { shownState } from '~/format/state';
import { useWaitsForNewer } from '~/known-kinds';
import { useLiveView, useNow } from '~/live/use-live';

/** One row: where it stands, what happens next, what happened before, what it belongs to. */
export function RowDetail({ page: loaded, slug }: { page: RowPage; slug: string }) {
  const page = useLiveView<RowPage>(`row:${slug}:${loaded.row.id}`, loaded);
  const now = useNow();
  const { row, queue } = page;
  const newer = useWaitsForNewer(row);
  return (
    <>
      <p className="crumb"><Link className="link" to={queuePath(slug)}>{queue.title}</Link><span className="dim"> / {capitalised(queue.noun)}</span></p>
      <div className="row-head">
        <h1 className="min-w-0"><Subject row={row} title /></h1>
        <span className="row-state"><StateMark state={shownState(row, now)} />{newer ? <> <NewerWorker row={row} /></> : null}</span>
      </div>
      <p className="row-id"><span className="mono soft">{row.id}</span><CopyButton text={row.id} label="Copy id" className="quiet" /><span className="dim">created <Age at={row.createdAt} suffix=" ago" />{row.finishedAt !== null ? <>, ended <Age at={row.finishedAt} suffix=" ago" /></> : null}</span></p>
      {row.errorCode ? <ErrorText code={row.errorCode} message={row.errorMessage} final={row.state === 'failed'} /> : null}
      <div className="row-columns">
        <div className="min-w-0">
          <RowActions row={row} slug={slug} noun={queue.noun} />
          <Timeline events={page.events} more={page.moreEvents} actions={page.actions} />
          <LinkedRows page={page} />
        </div>
        <LeaseCard page={page} now={now} />
      </div>
    </>
  );
}

/** Error text comes from files and services outside: it is shown as text, whole, in its own direction. */
function ErrorText({ code, message, final }: { code: string; message: string | null; final: boolean }) {
  return (
    <div className="error-text" data-error={code}>
      <p><b>{final ? 'Failed' : 'Last failure'}: </b><bdi className="mono">{code}</bdi>{errorMeaning(code) ? <span className="soft"> · {errorMeaning(code)}</span> : null}</p>
      {message ? <pre dir="auto" tabIndex={0} aria-label="Error text">{message}</pre> : null}
    </div>
  );
}
