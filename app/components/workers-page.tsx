import { Link, useRouteLoaderData } from '@remix-run/react';
import clsx from 'clsx';
import type { NowView } from '../../server/console/now.js';
import type { WorkersFilter, WorkersView } from '../../server/console/workers.js';
import { DrainBoards } from './drain-board';
import { Pager } from './pager';
import { EmptyState } from './ui/empty-state';
import { Section } from './ui/section';
import { WorkerTable } from './worker-table';
import { Lifelines } from '~/charts/lifelines';
import { counted } from '~/format/count';
import { liveWords } from '~/format/fleet-words';
import { workerLook } from '~/format/worker-state';
import { useLiveView, useNow } from '~/live/use-live';
import type { loader as consoleLoader } from '~/routes/_console';

/** Live processes and those that ended within the hour follow along; the archive of all is a picture of when it was loaded. */
export function WorkersPage({ view, filter }: { view: WorkersView; filter: WorkersFilter }) {
  return filter.show === 'recent' ? <Recent loaded={view} /> : <Archive view={view} before={filter.before} />;
}

function Recent({ loaded }: { loaded: WorkersView }) {
  const view = useLiveView<WorkersView>('workers', loaded);
  const summary = useLiveView<NowView>('summary', useRouteLoaderData<typeof consoleLoader>('routes/_console')!.now!);
  const now = useNow();
  const live = view.workers.filter((worker) => ['live', 'drained', 'draining'].includes(workerLook(worker, now).word));
  return (
    <>
      <Head title="Workers" show="recent" note={`${liveWords(live)}, ${counted(view.workers.reduce((sum, worker) => sum + worker.leases, 0), 'lease')} held`} />
      <DrainBoards boards={summary.boards} now={now} asOf={summary.asOf} without="lifelines" />
      {view.workers.length === 0 ? <Nobody /> : (
        <>
          <Section title="Lifelines" aside="one bar a process, last hour"><Lifelines workers={view.workers} redeploys={view.redeploys} now={now} /></Section>
          <Section title="Processes" aside="by version, newest first"><WorkerTable workers={byVersion(view.workers)} now={now} /></Section>
        </>
      )}
    </>
  );
}

function Archive({ view, before }: { view: WorkersView; before: string | null }) {
  const now = useNow();
  return (
    <>
      <Head title="Workers" show="all" note="every process, newest first" />
      {view.workers.length === 0 ? <Nobody /> : <WorkerTable workers={view.workers} now={now} />}
      <Pager page={{ next: view.next, previous: null }} before={before} to={(change) => `/workers?${new URLSearchParams({ show: 'all', ...change })}`} />
    </>
  );
}

function Head({ title, show, note }: { title: string; show: 'recent' | 'all'; note: string }) {
  return (
    <div className="queue-head">
      <h1>{title}</h1>
      <span className="dim">{note}</span>
      <div className="queue-tools">
        <Link className={clsx('chip', show === 'recent' && 'on')} aria-current={show === 'recent' ? 'true' : undefined} to="/workers">Live and last hour</Link>
        <Link className={clsx('chip', show === 'all' && 'on')} aria-current={show === 'all' ? 'true' : undefined} to="/workers?show=all">All</Link>
      </div>
    </div>
  );
}

function Nobody() {
  return (
    <div className="card section">
      <EmptyState title="No process has registered">
        <p className="soft">Each web and worker process appears here when it starts, with its version, its last beat and the leases it holds; a redeploy shows as one set of bars ending while another begins.</p>
        <p className="soft">Start a worker with <code>npm run worker</code>. Uploads are accepted meanwhile and wait.</p>
      </EmptyState>
    </div>
  );
}

/** Versions in the order of their newest process; within one, newest first. */
function byVersion(workers: WorkersView['workers']): WorkersView['workers'] {
  const versions = [...new Set(workers.map((worker) => worker.version))];
  return versions.flatMap((version) => workers.filter((worker) => worker.version === version));
}
