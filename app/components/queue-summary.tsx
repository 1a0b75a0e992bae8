import { Link } from '@remix-run/react';
import clsx from 'clsx';
import type { QueueNow } from '../../server/console/now-queues.js';
import { Age } from './age';
import { Sparkline } from '~/charts/sparkline';
import { duration } from '~/format/age';
import { count } from '~/format/count';
import { queuePath } from '~/format/filters';
import type { FilterState } from '../../server/console/queue-filters.js';

/** One row a queue. Each number opens the rows that it counts. */
export function QueueSummary({ queues }: { queues: QueueNow[] }) {
  return (
    <div className="card table-wrap">
      <table className="table stack queue-summary">
        <thead>
          <tr>
            <th scope="col">Queue</th><th scope="col" className="r">Queued</th><th scope="col" className="r">Running</th>
            <th scope="col" className="r">Stale</th><th scope="col" className="r">Failed</th><th scope="col" className="r">Oldest waiting</th>
            <th scope="col" className="r">Wait p50 / p95</th><th scope="col" className="r">Run p50 / p95</th><th scope="col">Ended a minute</th>
          </tr>
        </thead>
        <tbody>{queues.map((queue) => <QueueRow key={queue.slug} queue={queue} />)}</tbody>
      </table>
    </div>
  );
}

function QueueRow({ queue }: { queue: QueueNow }) {
  return (
    <tr className={clsx(queue.stale > 0 && 'bad')} data-queue={queue.slug}>
      <td className="first">
        <Link className="row-link" to={queuePath(queue.slug)}>{queue.title}</Link>
        {queue.awaiting > 0 ? <span className="dim"> · {count(queue.awaiting)} awaiting {queue.table === 'analysis_jobs' ? 'citations' : 'files'}</span> : null}
        {queue.paused ? <span className="soft"> · paused</span> : null}
      </td>
      <Count queue={queue} label="queued" n={queue.queued} state="queued" />
      <Count queue={queue} label="running" n={queue.running} state="running" />
      <Count queue={queue} label="stale" n={queue.stale} state="stale" bad />
      <Count queue={queue} label="failed" n={queue.failedLastHour} state="failed" />
      <td className="r" data-label="oldest">{queue.oldestSince === null ? <span className="dim">–</span> : <Age at={queue.oldestSince} />}</td>
      <td className="r" data-label="wait"><Pair {...queue.wait} /></td>
      <td className="r" data-label="run"><Pair {...queue.run} /></td>
      <td className="hide-narrow"><Sparkline values={queue.throughput} label={`${queue.title}: ended a minute, last hour`} /></td>
    </tr>
  );
}

function Count({ queue, label, n, state, bad = false }: { queue: QueueNow; label: string; n: number; state: FilterState; bad?: boolean }) {
  return (
    <td className="r" data-label={label} data-count={label}>
      {n === 0 ? <span className="zero">0</span> : <Link className={clsx('count-link', bad && 'bad')} to={queuePath(queue.slug, { states: [state], newer: null })}>{count(n)}</Link>}
    </td>
  );
}

function Pair({ p50, p95 }: { p50: number | null; p95: number | null }) {
  if (p50 === null || p95 === null) return <span className="dim">–</span>;
  return <><span className="soft">{duration(p50)}</span><span className="dim"> / </span>{duration(p95)}</>;
}
