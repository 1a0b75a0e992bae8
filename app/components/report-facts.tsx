import { Link } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { ReportPage } from '../../server/console/report.js';
import type { RowView } from '../../server/console/row-view.js';
import { Worker } from './holder';
import { OutsideId } from './names';
import { age } from '~/format/age';
import { counted } from '~/format/count';
import { judgeNote, reasonWords } from '~/format/report-words';
import { sessionPath } from '~/format/session-words';
import { useNow } from '~/live/use-live';

/** Who judges, who holds it, what it lived through, whose it is. */
export function ReportFacts({ page, row }: { page: ReportPage; row: RowView }) {
  return (
    <dl className="card facts">
      <Fact name="Judge"><Judge label={page.judge} /></Fact>
      <Fact name={row.finishedAt === null ? 'Running for' : 'Took'}><Took row={row} /></Fact>
      <Fact name="Held by"><Holders page={page} row={row} /></Fact>
      <Fact name="Session"><Link className="row-link" to={sessionPath(page.sessionId, page.userId)}><OutsideId id={page.sessionId} width="22ch" /></Link><p className="soft">user <OutsideId id={page.userId} width="18ch" /></p></Fact>
      {page.reading && page.reading.marksSeen > page.reading.marksResolved ? <Fact name="Marks not resolved"><Unresolved unresolved={page.reading.unresolved} n={page.reading.marksSeen - page.reading.marksResolved} /></Fact> : null}
    </dl>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

function Judge({ label }: { label: string | null }) {
  if (label === null) return <span className="dim">none yet</span>;
  const note = judgeNote(label);
  return <><bdi className="mono">{label}</bdi>{note ? <p className="soft">{note}</p> : null}</>;
}

function Took({ row }: { row: RowView }) {
  const now = useNow();
  return <span suppressHydrationWarning>{age((row.finishedAt ?? now) - row.createdAt)}</span>;
}

function Holders({ page, row }: { page: ReportPage; row: RowView }) {
  if (row.worker) return <Worker {...row.worker} held />;
  const holders = page.journey.holders.filter((holder) => holder.stage === 'checked');
  if (holders.length === 0 || row.finishedAt !== null) return <span className="dim">nobody</span>;
  return <ul className="plain">{holders.map((holder) => <li key={holder.id}><Worker {...holder} held /> <span className="soft">{counted(holder.n, 'citation')}</span></li>)}</ul>;
}

/** Nothing is dropped silently: each mark without a work is counted with its reason. */
function Unresolved({ unresolved, n }: { unresolved: Record<string, number>; n: number }) {
  const reasons = Object.entries(unresolved);
  return (
    <details>
      <summary>{n}</summary>
      <ul className="plain">{reasons.map(([reason, count]) => <li key={reason} className="soft">{count}: {reasonWords(reason)}</li>)}</ul>
    </details>
  );
}
