import { Link } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { DeploymentFacts } from '../../server/console/deployments.js';
import type { DeploymentPage } from '../../server/console/deployment.js';
import type { RowPage } from '../../server/console/row-page.js';
import type { RowView } from '../../server/console/row-view.js';
import { Age, Instant } from './age';
import { DeploymentState, LockHolder, LockMeter, reclaimableAt } from './deployment-lock';
import { HostingNote } from './deployment-hosting';
import { Publishes, Refusals } from './deployment-history';
import { Release } from './deployment-table';
import { useReadAgain } from './deployments-view';
import { LeaseMeter } from './lease-meter';
import { OutsideId, OutsideName } from './names';
import { RowActions } from './row-actions';
import { Timeline } from './timeline';
import { CopyButton } from './ui/copy-button';
import { counted } from '~/format/count';
import { errorMeaning } from '~/format/error-words';
import { lockStep } from '~/format/lock-step';
import { useLiveView, useNow } from '~/live/use-live';

/** One app: what is live, its lock with the evidence, its publishes, and who was refused. */
export function DeploymentDetail({ view }: { view: DeploymentPage }) {
  const page = useLiveView<RowPage>(`row:deployments:${view.page.row.id}`, view.page);
  const { row } = page;
  const known = view.page.row;
  useReadAgain(row.state === 'building', row.state !== known.state || row.columns.publish_no !== known.columns.publish_no);
  return (
    <>
      <p className="crumb"><Link className="link" to="/deployments">Deployments</Link><span className="dim"> / App</span></p>
      <div className="row-head">
        <h1 className="min-w-0"><OutsideName name={String(row.columns.slug)} width="100%" /></h1>
        <span className="row-state"><DeploymentState row={row} deadAfterMs={view.deadAfterMs} /></span>
      </div>
      <p className="row-id"><span className="mono soft">{row.id}</span><CopyButton text={row.id} label="Copy id" className="quiet" /><span className="dim">publish #{row.columns.publish_no}, live: <Release release={view.facts.release} /></span></p>
      <div className="mt-3"><HostingNote hosting={view.hosting} /></div>
      {row.state === 'failed' && row.errorCode ? <Failure code={row.errorCode} message={row.errorMessage} /> : null}
      <div className="row-columns">
        <div className="min-w-0">
          <RowActions row={row} slug="deployments" noun="deployment" />
          <Publishes attempts={view.attempts} more={view.moreAttempts} />
          <Refusals refusals={view.refusals} more={view.moreRefusals} current={Number(row.columns.publish_no)} />
          <Timeline events={page.events} more={page.moreEvents} actions={page.actions} />
        </div>
        <LockCard page={page} facts={view.facts} deadAfterMs={view.deadAfterMs} />
      </div>
    </>
  );
}

/** The error of this publish, and of no other. */
function Failure({ code, message }: { code: string; message: string | null }) {
  return (
    <div className="error-text" data-error={code}>
      <p><b>Failed: </b><bdi className="mono">{code}</bdi>{errorMeaning(code) ? <span className="soft"> · {errorMeaning(code)}</span> : null}</p>
      {message ? <pre dir="auto" tabIndex={0} aria-label="Error text">{message}</pre> : null}
    </div>
  );
}

/** The evidence: lock, last beat, who drives it, and what happens next. */
function LockCard({ page, facts, deadAfterMs }: { page: RowPage; facts: DeploymentFacts; deadAfterMs: number }) {
  const now = useNow();
  const { row } = page;
  const free = row.state !== 'building';
  return (
    <aside className="card lease-card" aria-label="Publish lock">
      <dl>
        <Fact name="Lock"><LockMeter row={row} deadAfterMs={deadAfterMs} wide /></Fact>
        {free ? null : <BuildingFacts row={row} end={reclaimableAt(row, deadAfterMs)} now={now} facts={facts} />}
        <Fact name="Token"><span className="mono">#{row.leaseToken}</span></Fact>
        <Fact name="Failures">{row.attempt} of {row.maxAttempts}{row.lostLeases > 0 ? `, and ${counted(row.lostLeases, 'lease')} lost to dying workers` : ''}</Fact>
        {facts.buildId ? <Fact name="Build"><OutsideId id={facts.buildId} width="24ch" /></Fact> : null}
        <Fact name="Project"><OutsideId id={String(row.columns.project_id)} width="24ch" /></Fact>
        <Fact name="User"><OutsideId id={String(row.columns.user_id)} width="24ch" /></Fact>
      </dl>
      <div className="next-step"><b>Next</b><p suppressHydrationWarning>{lockStep(page, facts, deadAfterMs, now)}</p></div>
    </aside>
  );
}

function BuildingFacts({ row, end, now, facts }: { row: RowView; end: number | null; now: number; facts: DeploymentFacts }) {
  return (
    <>
      <Fact name="Since"><Age at={facts.publishedAt} suffix=" ago" /></Fact>
      {row.heartbeatAt !== null ? <Fact name="Last beat"><Age at={row.heartbeatAt} suffix=" ago" /></Fact> : null}
      {end !== null ? <Fact name="Reclaimable"><span suppressHydrationWarning>{end < now ? 'now' : <Age at={end} prefix="in " />}</span> <span className="dim">· <Instant at={end} /></span></Fact> : null}
      <Fact name="Driven by"><LockHolder row={row} /></Fact>
      {row.leaseExpiresAt !== null ? <Fact name="Its lease"><LeaseMeter row={row} /></Fact> : null}
      {facts.cancelRequestedAt !== null ? <Fact name="Cancel"><span>asked for by <bdi>{facts.cancelRequestedBy}</bdi> <Age at={facts.cancelRequestedAt} suffix=" ago" /></span></Fact> : null}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <><dt>{name}</dt><dd>{children}</dd></>;
}
