import { Link } from '@remix-run/react';
import type { DrainBoard } from '../../server/console/redeploy-board.js';
import { Age } from './age';
import { Section } from './ui/section';
import { Lifelines } from '~/charts/lifelines';
import { age } from '~/format/age';
import { capabilityWords } from '~/format/attention';
import { listed } from '~/format/count';
import { rolloutWords } from '~/format/fleet-words';
import { redeployPath } from '~/format/redeploy-words';

interface Props {
  boards: DrainBoard[];
  now: number;
  /** Of the counts. */
  asOf: number;
  /** Where the page shows all lifelines, or says what nobody will do, by itself. */
  without?: 'lifelines' | 'gaps';
}

/** One redeploy while it rolls: what the old version still holds, how long until it is killed, and what nobody else can do. */
export function DrainBoards({ boards, ...props }: Props) {
  return boards.map((board) => <Board key={board.redeploy.id} board={board} {...props} />);
}

function Board({ board, now, asOf, without }: Omit<Props, 'boards'> & { board: DrainBoard }) {
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
        <p className="soft board-note">{rolloutWords(board)}</p>
        {board.onlyOld.length > 0 && without !== 'gaps' ? <p className="board-gap" data-only-old>{`Only ${fromVersion} can ${listed(board.onlyOld.map(capabilityWords))}: when it is gone, nobody takes this work. Start a process of ${toVersion} that does; what waits meanwhile is not lost.`}</p> : null}
        {without === 'lifelines' ? null : <Lifelines workers={board.processes} redeploys={[board.redeploy]} now={now} />}
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
