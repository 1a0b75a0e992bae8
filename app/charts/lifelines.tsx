import type { RedeployView, WorkerView } from '../../server/console/workers.js';
import { age } from '~/format/age';
import { clockTime } from '~/format/instant';
import { endedAt, workerLook } from '~/format/worker-state';
import { useHydrated } from '~/hydrated';

/** The picture reaches back an hour at most, and no further than the first start in it; never less than two minutes (milliseconds). */
const LONGEST_MS = 3_600_000;
const SHORTEST_MS = 120_000;

type Mark = Pick<RedeployView, 'role' | 'fromVersion' | 'toVersion' | 'startedAt'>;

interface Props {
  workers: WorkerView[];
  redeploys: Mark[];
  now: number;
  /** Where the picture begins and ends; default: as far back as is useful, until now. */
  from?: number;
  until?: number;
}

/** One bar a process, oldest start on top: a redeploy is one set of bars ending while another begins. */
export function Lifelines({ workers, redeploys, now, from: wanted, until = now }: Props) {
  const ordered = [...workers].sort((a, b) => a.startedAt - b.startedAt);
  const earliest = Math.min(...ordered.map((worker) => worker.startedAt));
  const from = wanted ?? Math.max(until - LONGEST_MS, Math.min(earliest - 5_000, until - SHORTEST_MS));
  const hydrated = useHydrated();
  return (
    <div className="card life">
      <div className="life-row life-scale" aria-hidden="true">
        <span />
        <div className="life-axis"><span suppressHydrationWarning>{hydrated ? clockTime(from, now) : ''}</span><span>{age(until - from)}</span><span suppressHydrationWarning>{until === now ? 'now' : hydrated ? clockTime(until, now) : ''}</span></div>
        <span />
      </div>
      <ul>{ordered.map((worker) => <Lifeline key={worker.id} worker={worker} redeploys={redeploys} from={from} until={until} now={now} />)}</ul>
    </div>
  );
}

function Lifeline({ worker, redeploys, from, until, now }: { worker: WorkerView; redeploys: Mark[]; from: number; until: number; now: number }) {
  const look = workerLook(worker, now);
  const share = (at: number) => `${(Math.max(0, Math.min(1, (at - from) / (until - from))) * 100).toFixed(2)}%`;
  const silent = look.word === 'silent' || look.word === 'gone';
  const end = endedAt(worker) ?? (silent ? worker.heartbeatAt : now);
  const drain = worker.drainingSince === null ? end : Math.min(worker.drainingSince, end);
  const words = `${worker.label} ${worker.version}: ${look.word}, ${look.note}, started ${age(now - worker.startedAt)} ago`;
  const marks = redeploys.filter((redeploy) => redeploy.role === worker.role || (redeploy.role === 'web' && worker.role === 'inline'));
  return (
    <li className="life-row" data-lifeline={worker.id}>
      <span className="clip"><bdi className="mono">{worker.label}</bdi> <span className={`mono ${look.tone === 'off' ? 'dim' : 'font-semibold'}`}>{worker.version}</span></span>
      <div className="life-track" role="img" aria-label={words} title={words} suppressHydrationWarning>
        {marks.map((redeploy) => <i key={redeploy.startedAt} className="life-mark" title={`${redeploy.role}: ${redeploy.fromVersion} → ${redeploy.toVersion}, ${age(now - redeploy.startedAt)} ago`} suppressHydrationWarning style={{ left: share(redeploy.startedAt) }} />)}
        <i className={`life-seg ${look.tone === 'off' || look.word === 'gone' ? 'over' : ''}`} style={{ left: share(worker.startedAt), right: `calc(100% - ${share(drain)})` }} suppressHydrationWarning />
        {drain < end ? <i className="life-seg drain" style={{ left: share(drain), right: `calc(100% - ${share(end)})` }} suppressHydrationWarning /> : null}
        {silent && worker.stoppedAt === null ? <i className="life-seg silent" style={{ left: share(worker.heartbeatAt), right: `calc(100% - ${share(worker.goneAt ?? now)})` }} suppressHydrationWarning /> : null}
      </div>
      <span className={`clip tone-text-${look.tone}`} suppressHydrationWarning>{look.word === 'live' ? look.note : `${look.word} · ${look.note}`}</span>
    </li>
  );
}
