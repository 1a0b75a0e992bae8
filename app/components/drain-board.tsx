import { Link } from '@remix-run/react';
import type { DrainBoard } from '../../server/console/redeploy-board.js';
import { Age } from './age';
import { Section } from './ui/section';
import { Lifelines } from '~/charts/lifelines';
import { age } from '~/format/age';
import { capabilityWords } from '~/format/attention';
import { counted, listed } from '~/format/count';
import { redeployPath } from '~/format/redeploy-words';

/** One redeploy while it rolls: what the old version still holds, how long until it is killed, and what nobody else can do. `asOf`: of the counts. */
export function DrainBoards({ boards, now, asOf }: { boards: DrainBoard[]; now: number; asOf: number }) {
  return boards.map((board) => <Board key={board.redeploy.id} board={board} now={now} asOf={asOf} />);
}

function Board({ board, now, asOf }: { board: DrainBoard; now: number; asOf: number }) {
  const { id, role, fromVersion, toVersion, switchAt } = board.redeploy;
  const { tally } = board;
  return (
    <div data-drain-board={id} data-as-of={asOf}>
      <Section title={`Redeploy of ${role} ${fromVersion} → ${toVersion}`} aside={<Link className="link" discover="none" to={redeployPath(id)}>began <Age at={switchAt} suffix=" ago" /></Link>}>
        <dl className="board-counts">
          <Count name="old version holds" n={board.oldHolds} count="old-holds" loud />
          <Count name="new version holds" n={board.newHolds} count="new-holds" />
          <Count name="in flight at the switch" n={tally.inFlight} count="in-flight" />
          <Count name="finished" n={tally.finished} count="finished" />
          <Count name="given back" n={tally.givenBack} count="given-back" />
          <Count name="expired" n={tally.expired} count="expired" bad={tally.expired > 0} />
          <Count name="wait to be taken again" n={tally.waiting} count="waiting" />
          <Count name="lost" n={tally.lost} count="lost" bad={tally.lost > 0} />
          <div><dt>killed in</dt><dd suppressHydrationWarning>{deadlineWords(board, now)}</dd></div>
        </dl>
        <p className="soft board-note">{fleetWords(board)}</p>
        {board.onlyOld.length > 0 ? <p className="board-gap" data-only-old>{`Only ${fromVersion} can ${listed(board.onlyOld.map(capabilityWords))}: when it is gone, nobody takes this work. Start a process of ${toVersion} that does; what waits meanwhile is not lost.`}</p> : null}
        <Lifelines workers={board.processes} redeploys={[board.redeploy]} now={now} />
      </Section>
    </div>
  );
}

function Count({ name, n, count, loud = false, bad = false }: { name: string; n: number; count: string; loud?: boolean; bad?: boolean }) {
  return <div data-board-count={count} className={loud && n > 0 ? 'loud' : bad ? 'bad' : undefined}><dt>{name}</dt><dd className={n === 0 && !loud ? 'zero' : undefined}>{n}</dd></div>;
}

/** The first of the deadlines that the draining processes have registered. */
function deadlineWords({ processes }: DrainBoard, now: number): string {
  const deadlines = processes.flatMap(({ side, leaving, killDeadlineAt }) => (side === 'outgoing' && leaving === 'draining' && killDeadlineAt !== null ? [killDeadlineAt] : []));
  if (deadlines.length === 0) return '–';
  const first = Math.min(...deadlines);
  return first > now ? age(first - now) : 'past its deadline';
}

/** "2 of v42 still work, 1 drains, 1 has stopped clean; 2 of v43 are up." */
function fleetWords({ redeploy, processes }: DrainBoard): string {
  const old = (leaving: string) => processes.filter((process) => process.side === 'outgoing' && process.leaving === leaving).length;
  const said = [
    old('working') > 0 ? `${old('working')} of ${redeploy.fromVersion} still ${old('working') === 1 ? 'works' : 'work'}` : '',
    old('draining') > 0 ? `${old('draining')} ${old('draining') === 1 ? 'drains' : 'drain'}` : '',
    old('clean') > 0 ? `${old('clean')} stopped clean` : '',
    old('killed') > 0 ? `${old('killed')} ended without a word` : '',
  ].filter((part) => part !== '');
  const up = processes.filter((process) => process.side === 'incoming' && process.leaving === 'working').length;
  const mixed = (old('working') + old('draining') > 0) && up > 0 ? 'Mixed versions: ' : '';
  return `${mixed}${listed([...said, `${counted(up, 'process', 'processes')} of ${redeploy.toVersion} ${up === 1 ? 'is' : 'are'} up`])}.`;
}
