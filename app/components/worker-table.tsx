import { Link } from '@remix-run/react';
import type { WorkerView } from '../../server/console/workers.js';
import { ActionButton } from './action-button';
import { Age } from './age';
import { Shape } from './ui/shape';
import { queuePath } from '~/format/filters';
import { workerLook } from '~/format/worker-state';

export function WorkerTable({ workers, now }: { workers: WorkerView[]; now: number }) {
  return (
    <div className="card table-wrap">
      <table className="table stack" aria-label="Processes">
        <thead>
          <tr>
            <th scope="col">State</th><th scope="col">Process</th><th scope="col">Version</th><th scope="col">Role</th><th scope="col">Takes</th>
            <th scope="col" className="r">Leases / slots</th><th scope="col" className="r">Last beat</th><th scope="col" className="r">Started</th><th scope="col">Now</th><th scope="col"><span className="visually-hidden">Actions</span></th>
          </tr>
        </thead>
        <tbody>{workers.map((worker) => <WorkerRow key={worker.id} worker={worker} now={now} />)}</tbody>
      </table>
    </div>
  );
}

function WorkerRow({ worker, now }: { worker: WorkerView; now: number }) {
  const look = workerLook(worker, now);
  return (
    <tr className={look.tone === 'stale' ? 'bad' : undefined} data-worker={worker.id} data-worker-state={look.word}>
      <td className="mark"><span className={`state tone-${look.tone}`}><Shape name={look.shape} />{look.word}</span></td>
      <td className="first"><bdi className="mono clip inline-block max-w-[20ch] align-bottom" title={`${worker.id}, ${worker.host}, pid ${worker.pid}`}>{worker.label}</bdi></td>
      <td><bdi className="mono font-semibold clip inline-block max-w-[14ch] align-bottom" title={worker.version}>{worker.version}</bdi></td>
      <td className="soft">{worker.role}</td>
      <td className="soft" title={kindWords(worker)}><span className="inline-block min-[821px]:min-w-[12.5ch] whitespace-normal">{worker.capabilities.length === 0 ? '–' : worker.capabilities.join(', ')}</span></td>
      <td className="r" data-label="leases">{worker.leases > 0 ? <Link className="count-link" discover="none" to={queuePath('parse-items', { worker: worker.id })}>{worker.leases}</Link> : <span className="zero">0</span>}<span className="dim"> / {worker.slots}</span></td>
      <td className="r" data-label="last beat"><Age at={worker.heartbeatAt} suffix=" ago" /></td>
      <td className="r" data-label="started"><Age at={worker.startedAt} suffix=" ago" /></td>
      <td className={`wrap tone-text-${look.tone}`} suppressHydrationWarning>{look.note}</td>
      <td className="r actions"><Orders worker={worker} word={look.word} /></td>
    </tr>
  );
}

/** Only what takes work is drained, also inside a web process, and only a drain that a person ordered can be taken back. */
function Orders({ worker, word }: { worker: WorkerView; word: string }) {
  if (worker.role === 'web' || word === 'stopped' || word === 'gone') return null;
  const order = (action: string) => ({ action, fields: { worker: worker.id }, subject: `${worker.label} (${worker.version})` });
  if (worker.drainedBy === 'operator') return <ActionButton order={order('resume')} why={word === 'silent' ? 'It does not beat.' : null} />;
  return <ActionButton order={order('drain')} why={word === 'draining' ? 'It is shutting down already.' : word === 'silent' ? 'It does not beat: what it holds is taken back by the sweep.' : null} />;
}

/** What it announced that it knows: other kinds and higher schema versions stay queued for a newer worker. */
function kindWords({ kinds }: WorkerView): string | undefined {
  const known = Object.values(kinds).flatMap((versions) => Object.entries(versions)).map(([kind, version]) => `${kind} up to version ${version}`);
  return known.length === 0 ? undefined : `Knows ${known.join(', ')}`;
}
