import type { RedeployPage } from '../../server/console/redeploy.js';
import { Age } from './age';
import { Shape } from './ui/shape';
import { age } from '~/format/age';
import { leavingLooks } from '~/format/redeploy-words';

type Process = RedeployPage['processes'][number];

/** Who drained, for how long, and whether it ended by itself or was killed. */
export function RedeployProcesses({ processes, now }: { processes: Process[]; now: number }) {
  return (
    <div className="card table-wrap">
      <table className="table stack" aria-label="Processes of this redeploy">
        <thead>
          <tr>
            <th scope="col">State</th><th scope="col">Process</th><th scope="col">Version</th><th scope="col" className="r">Started</th><th scope="col" className="r">Drained for</th>
            <th scope="col" className="r">Finished</th><th scope="col" className="r">Given back</th><th scope="col" className="r">Expired</th><th scope="col" className="r">Holds</th><th scope="col" className="r">Late writes</th>
          </tr>
        </thead>
        <tbody>{processes.map((process) => <Row key={process.id} process={process} now={now} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ process, now }: { process: Process; now: number }) {
  const { tally, side, leaving } = process;
  const look = leavingLooks[leaving];
  return (
    <tr data-process={process.id} data-leaving={leaving}>
      <td className="mark"><span className={`state tone-${look.tone}`}><Shape name={look.shape} />{look.word}</span></td>
      <td className="first"><bdi className="mono clip inline-block max-w-[28ch] align-bottom" title={`${process.id}, ${process.host}, pid ${process.pid}`}>{process.label}</bdi>{process.role === 'inline' ? <span className="dim"> inline</span> : null}</td>
      <td><bdi className={side === 'incoming' ? 'mono font-semibold' : 'mono soft'}>{process.version}</bdi></td>
      <td className="r" data-label="started"><Age at={process.startedAt} suffix=" ago" /></td>
      <td className="r" data-label="drained" suppressHydrationWarning>{drainWords(process, now)}</td>
      <Number label="finished" n={tally.finished} /><Number label="given back" n={tally.givenBack} /><Number label="expired" n={tally.expired} bad />
      <td className="r" data-label="holds">{process.leases === 0 ? <span className="zero">0</span> : process.leases}</td><Number label="late" n={tally.lateWrites} />
    </tr>
  );
}

function Number({ label, n, bad = false }: { label: string; n: number; bad?: boolean }) {
  return <td className={n === 0 ? 'r hide-narrow' : 'r'} data-label={label}>{n === 0 ? <span className="zero">0</span> : <span className={bad ? 'tone-text-stale' : undefined}>{n}</span>}</td>;
}

function drainWords({ leaving, drainedMs, drainingSince, killDeadlineAt }: Process, now: number): string {
  if (leaving === 'draining' && drainingSince !== null) {
    const left = killDeadlineAt === null ? null : killDeadlineAt - now;
    return `${age(now - drainingSince)} so far${left === null ? '' : left > 0 ? `, ${age(left)} left` : ', past its deadline'}`;
  }
  if (leaving === 'drained') return 'by an operator';
  if (leaving === 'working') return '–';
  if (drainedMs === null) return 'not at all';
  return leaving === 'killed' ? `${age(drainedMs)}, then silent` : age(drainedMs);
}
