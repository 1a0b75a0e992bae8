import { NavLink } from '@remix-run/react';
import clsx from 'clsx';
import type { NowView } from '../../server/console/now.js';
import { count } from '~/format/count';
import { alive } from '~/format/verdict';

interface Props {
  view: Pick<NowView, 'queues' | 'versions' | 'stuckLocks' | 'boards'>;
  attention: number;
  version: string;
}

/** Only pages that exist. Counts are open rows; a stale one turns them red and says so. */
export function Rail({ view, attention, version }: Props) {
  const deployments = view.queues.find((queue) => queue.slug === 'deployments');
  const workers = view.versions.reduce((sum, each) => sum + alive(each), 0);
  return (
    <nav className="rail" aria-label="Main">
      <div className="brand"><Mark />Leaseboard</div>
      <ul>
        <li><RailLink to="/" label="Now" n={attention} bad={attention > 0} note="need attention" /></li>
        <li><RailLink to="/find" label="Find" n={0} bad={false} note="" /></li>
      </ul>
      <div className="rail-heading" id="rail-queues">Queues</div>
      <ul aria-labelledby="rail-queues">
        {view.queues.filter((queue) => queue !== deployments).map((queue) => {
          const open = queue.awaiting + queue.queued + queue.running;
          const note = queue.stale > 0 ? `open, ${queue.stale} stale` : 'open';
          return <li key={queue.slug}><RailLink to={`/queues/${queue.slug}`} label={queue.title} n={open} bad={queue.stale > 0} note={note} /></li>;
        })}
      </ul>
      <ul>
        <li><RailLink to="/reports" label="Reports" n={0} bad={false} note="" /></li>
        <li><RailLink to="/sessions" label="Sessions" n={0} bad={false} note="" /></li>
        {deployments ? <li><RailLink to="/deployments" label="Deployments" n={deployments.queued + deployments.running} bad={view.stuckLocks.length > 0} note={view.stuckLocks.length > 0 ? `publishing, ${view.stuckLocks.length} stuck` : 'publishing'} /></li> : null}
        <li><RailLink to="/workers" label="Workers" n={workers} bad={false} note="live" /></li>
        <li><RailLink to="/redeploys" label="Redeploys" n={view.boards.length} bad={false} note="rolling" /></li>
        <li><RailLink to="/audit" label="Audit" n={0} bad={false} note="" /></li>
        <li><RailLink to="/settings" label="Settings" n={0} bad={false} note="" /></li>
      </ul>
      <div className="rail-foot">
        <span>Console <span className="mono">{version}</span></span>
        <span>Keys: <kbd>?</kbd></span>
      </div>
    </nav>
  );
}

function RailLink({ to, label, n, bad, note }: { to: string; label: string; n: number; bad: boolean; note: string }) {
  return (
    <NavLink to={to} end={to === '/'} className="rail-link">
      {label}
      {n > 0 ? <span className={clsx('rail-count', bad && 'bad')} title={`${count(n)} ${note}`}>{count(n)}<span className="visually-hidden"> {note}</span></span> : null}
    </NavLink>
  );
}

export function Mark() {
  return (
    <svg width="20" height="11" viewBox="0 0 20 11" aria-hidden="true">
      <rect width="20" height="11" rx="3.5" fill="var(--line-2)" />
      <path d="M3.5 0H13v11H3.5A3.5 3.5 0 0 1 0 7.5v-4A3.5 3.5 0 0 1 3.5 0Z" fill="var(--accent)" />
    </svg>
  );
}
