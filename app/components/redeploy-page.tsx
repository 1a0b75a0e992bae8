import { Link } from '@remix-run/react';
import type { NowView } from '../../server/console/now.js';
import type { FateFilter, RedeployPage as View } from '../../server/console/redeploy.js';
import type { WaitImpact } from '../../server/console/redeploy-waits.js';
import { Age, Instant } from './age';
import { RedeployFates } from './redeploy-fates';
import { RedeployProcesses } from './redeploy-processes';
import { RollState } from './redeploy-list';
import { Banner } from './ui/banner';
import { CopyButton } from './ui/copy-button';
import { Section } from './ui/section';
import { Lifelines } from '~/charts/lifelines';
import { duration } from '~/format/age';
import { count } from '~/format/count';
import { rollWords, tallyWords } from '~/format/redeploy-words';
import { useFollow } from '~/follow';
import { useLiveView, useNow } from '~/live/use-live';

/** The picture shows this much (milliseconds) before the switch, and after the end. */
const MARGIN_MS = 60_000;

/** One change of version: who left and how, what became of each lease, and what it cost those who waited. */
export function RedeployPage({ view, filter, now: loaded }: { view: View; filter: FateFilter; now: NowView }) {
  const now = useNow();
  const { boards } = useLiveView<NowView>('summary', loaded);
  useFollow(JSON.stringify(boards.filter(({ redeploy }) => redeploy.id === view.redeploy.id).map(({ redeploy, tally, processes }) => [redeploy, tally, processes.map(({ id, leaving }) => [id, leaving])])));
  const { id, role, fromVersion, toVersion, startedAt, endedAt, switchAt } = view.redeploy;
  const until = endedAt === null ? now : Math.min(now, endedAt + MARGIN_MS);
  return (
    <>
      <p className="crumb"><Link className="link" to="/redeploys">Redeploys</Link><span className="dim"> / {role}</span></p>
      <div className="row-head">
        <h1 className="min-w-0">{role === 'web' ? 'Web' : 'Workers'} <bdi className="mono">{fromVersion}</bdi> → <bdi className="mono">{toVersion}</bdi></h1>
        <span className="row-state"><RollState rolling={endedAt === null} /></span>
      </div>
      <p className="row-id"><span className="dim" suppressHydrationWarning>began <Instant at={Math.min(startedAt, switchAt)} /> · <Age at={Math.min(startedAt, switchAt)} suffix=" ago" /> · {rollWords(view.redeploy, now)}</span><CopyButton text={id} label="Copy id" className="quiet" /></p>
      {view.forgotten ? <Banner>The log of transitions begins after this redeploy (retention): what became of its leases is not known any more. Its processes and waits still are.</Banner>
        : <p className="redeploy-verdict" data-redeploy-verdict data-in-flight={view.tally.inFlight} data-finished={view.tally.finished} data-given-back={view.tally.givenBack} data-expired={view.tally.expired} data-held={view.tally.held} data-late={view.tally.lateWrites} data-lost={view.tally.lost}>{tallyWords(view.tally)}{view.tally.lateWrites > 0 ? ` ${view.tally.lateWrites} late ${view.tally.lateWrites === 1 ? 'write was' : 'writes were'} refused.` : ''}</p>}
      <Section title="Lifelines" aside="one bar a process"><Lifelines workers={view.processes} redeploys={[view.redeploy]} now={now} from={Math.min(switchAt, startedAt) - MARGIN_MS} until={until} /></Section>
      <Section title="Processes" aside="the old version first"><RedeployProcesses processes={view.processes} now={now} /></Section>
      <Section title="Waiting" aside="closed minutes of the roll against the hour before"><Waits waits={view.waits} /></Section>
      {view.forgotten ? null : <Section title="Leases in flight at the switch" aside="what is still held first, then newest end"><RedeployFates view={view} filter={filter} /></Section>}
    </>
  );
}

function Waits({ waits }: { waits: WaitImpact[] }) {
  if (waits.length === 0) return <div className="card"><p className="dim board-note px-4 py-3">No row was taken in the closed minutes of the roll, nor in the hour before. The minute under way joins them soon after its end.</p></div>;
  return (
    <div className="card table-wrap">
      <table className="table stack" aria-label="Waiting">
        <thead><tr><th scope="col">Queue</th><th scope="col" className="r">Taken before</th><th scope="col" className="r">Wait p50 / p95 before</th><th scope="col" className="r">Taken during</th><th scope="col" className="r">Wait p50 / p95 during</th></tr></thead>
        <tbody>
          {waits.map(({ slug, title, before, during }) => (
            <tr key={slug}>
              <td className="first">{title}</td>
              <td className="r" data-label="taken before">{count(before.taken)}</td><td className="r" data-label="before"><Pair {...before} /></td>
              <td className="r" data-label="taken during">{count(during.taken)}</td><td className="r" data-label="during"><Pair {...during} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Pair({ p50, p95 }: { p50: number | null; p95: number | null }) {
  if (p50 === null || p95 === null) return <span className="dim">–</span>;
  return <><span className="soft">{duration(p50)}</span><span className="dim"> / </span>{duration(p95)}</>;
}
