import { Form, Link } from '@remix-run/react';
import clsx from 'clsx';
import { X } from 'lucide-react';
import { lazy } from 'react';
import type { NowView } from '../../server/console/now.js';
import type { RedeployFilters, RedeployLine, RedeploysPage } from '../../server/console/redeploys.js';
import { Age } from './age';
import { LeftOut } from './left-out';
import { Pager } from './pager';
import { EmptyState } from './ui/empty-state';
import { Later } from './ui/later';
import { Shape } from './ui/shape';
import { age, duration } from '~/format/age';
import { redeployPath, redeploysPath, redeploysQuery } from '~/format/redeploy-words';
import { useFollow } from '~/follow';
import { useLiveView } from '~/live/use-live';

const ExportMenu = lazy(() => import('./export-menu'));

/** Version changes, newest first; read again while one of them rolls, and when it ends. */
export function RedeployList({ page, filters, now: loaded }: { page: RedeploysPage; filters: RedeployFilters; now: NowView }) {
  const { boards } = useLiveView<NowView>('summary', loaded);
  useFollow(JSON.stringify(boards.map(({ redeploy, tally, processes }) => [redeploy, tally, processes.length])));
  return (
    <>
      <div className="queue-head">
        <h1>Redeploys</h1><span className="dim">each change of version, by role</span>
        <div className="queue-tools"><Later><ExportMenu path="/exports/redeploys" query={redeploysQuery({ ...filters, before: null, after: null })} /></Later></div>
      </div>
      <Filters filters={filters} />
      <LeftOut understood={redeploysQuery(filters)} />
      {page.redeploys.length > 0 ? <div className="card table-wrap"><Table lines={page.redeploys} /></div> : <Nothing empty={page.empty} />}
      <Pager page={page} before={filters.before} to={(change) => redeploysPath({ ...filters, before: null, after: null, ...change })} />
    </>
  );
}

function Filters({ filters }: { filters: RedeployFilters }) {
  const chip = (name: 'role' | 'state', value: string, words: string) => {
    const on = filters[name] === value;
    return <Link className={clsx('chip', on && 'on')} aria-current={on ? 'true' : undefined} discover="none" to={redeploysPath({ ...filters, before: null, after: null, [name]: on ? null : value })}>{words}</Link>;
  };
  return (
    <div className="filter-bar" role="search" aria-label="Filter redeploys">
      <div className="chips">
        {chip('state', 'rolling', 'rolling')}{chip('state', 'ended', 'ended')}<span className="dim">·</span>{chip('role', 'worker', 'workers')}{chip('role', 'web', 'web')}
        <Form method="get" action="/redeploys" className="filter-form" key={filters.version}>
          {(['role', 'state'] as const).map((name) => (filters[name] ? <input key={name} type="hidden" name={name} value={filters[name]} /> : null))}
          <input className="field w-full" name="version" data-filter-box maxLength={100} autoComplete="off" spellCheck={false} aria-label="Filter by version, of either side" placeholder="version" />
          <kbd className="filter-key" aria-hidden="true">f</kbd>
        </Form>
        {filters.version ? <Link className="chip on" discover="none" to={redeploysPath({ ...filters, before: null, after: null, version: null })}><span>version <bdi className="mono">{filters.version}</bdi></span><X size={13} aria-label="remove" /></Link> : null}
      </div>
    </div>
  );
}

function Table({ lines }: { lines: RedeployLine[] }) {
  return (
    <table className="table stack" aria-label="Redeploys">
      <thead>
        <tr>
          <th scope="col">State</th><th scope="col">Versions</th><th scope="col">Role</th><th scope="col" className="r">Began</th><th scope="col" className="r">Took</th>
          <th scope="col" className="r">Processes</th><th scope="col" className="r">In flight</th><th scope="col" className="r">Finished</th><th scope="col" className="r">Given back</th>
          <th scope="col" className="r">Expired</th><th scope="col" className="r">Late writes</th><th scope="col" className="r">Lost</th>
        </tr>
      </thead>
      <tbody>{lines.map((line) => <Line key={line.id} line={line} />)}</tbody>
    </table>
  );
}

function Line({ line }: { line: RedeployLine }) {
  const { tally } = line;
  const rolling = line.endedAt === null;
  const began = Math.min(line.startedAt, line.switchAt);
  return (
    <tr data-redeploy={line.id} className={tally.lost > 0 ? 'bad' : undefined}>
      <td className="mark"><RollState rolling={rolling} /></td>
      <td className="first wrap wrap-anywhere"><Link className="row-link" discover="none" to={redeployPath(line.id)}><bdi className="mono">{line.fromVersion}</bdi> → <bdi className="mono">{line.toVersion}</bdi></Link></td>
      <td className="soft">{line.role}</td>
      <td className="r" data-label="began"><Age at={began} suffix=" ago" /></td>
      <td className="r" data-label="took">{rolling ? <span className="dim">–</span> : age(line.endedAt! - began)}</td>
      <td className="r" data-label="processes">{line.outgoing} → {line.incoming}{line.killed > 0 ? <span className="tone-text-stale"> · {line.killed} killed</span> : null}</td>
      <Number label="in flight" n={tally.inFlight} />
      <Number label="finished" n={tally.finished} />
      <Number label="given back" n={tally.givenBack} note={tally.afterGiveBack.p50 === null ? undefined : duration(tally.afterGiveBack.p50)} />
      <Number label="expired" n={tally.expired} note={tally.afterExpiry.p50 === null ? undefined : duration(tally.afterExpiry.p50)} />
      <Number label="late" n={tally.lateWrites} />
      <td className="r" data-label="lost">{tally.lost === 0 ? <span className="zero">0</span> : <b className="tone-text-stale">{tally.lost}</b>}</td>
    </tr>
  );
}

/** `note`: how long until half of them were taken again. */
function Number({ label, n, note }: { label: string; n: number; note?: string | undefined }) {
  return <td className="r" data-label={label}>{n === 0 ? <span className="zero">0</span> : n}{note ? <span className="dim" title="taken again after (median)"> · {note}</span> : null}</td>;
}

export function RollState({ rolling }: { rolling: boolean }) {
  return rolling ? <span className="state tone-low"><Shape name="ring" />rolling</span> : <span className="state tone-done"><Shape name="tick" />ended</span>;
}

function Nothing({ empty }: { empty: boolean }) {
  return (
    <div className="card">
      {empty ? (
        <EmptyState title="No redeploy yet">
          <p className="soft">One begins when a process of a new version registers beside or after those of another, and ends when the old version neither beats nor holds a lease. It then shows what became of every lease that was in flight, and how much longer work waited.</p>
          <p className="soft">The version is <code>APP_VERSION</code>: an image tag or a commit. Start a worker with another one, then end the first: <code>APP_VERSION=v2 npm run worker</code></p>
        </EmptyState>
      ) : (
        <EmptyState title="Nothing matches">
          <p className="soft">No redeploy fits these filters.</p>
          <Link className="btn" to="/redeploys">Clear the filters</Link>
        </EmptyState>
      )}
    </div>
  );
}
