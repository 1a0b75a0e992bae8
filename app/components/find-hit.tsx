import type { FindHit, RowHit, SessionHit } from '../../server/console/find-view.js';
import { Age } from './age';
import { OutsideId, OutsideName, ShortId } from './names';
import { StateMark } from './state-mark';
import { Shape } from './ui/shape';
import { capitalised, listed } from '~/format/count';
import { rowNoun } from '~/format/find-words';
import { shownState } from '~/format/state';
import { useNow } from '~/live/use-live';

/** One line of a hit: what it is called, what it is, how it stands. The same in the palette and on the page. */
export function HitLine({ hit }: { hit: FindHit }) {
  return <><span className="hit-name">{nameOf(hit)}</span><span className="hit-about soft">{aboutOf(hit)}</span><span className="hit-state"><StateOf hit={hit} /></span></>;
}

function nameOf(hit: FindHit) {
  switch (hit.kind) {
    case 'address': return <OutsideName name={hit.address} width="44ch" />;
    case 'session': return <OutsideId id={hit.sessionId} width="34ch" />;
    case 'document': return <OutsideName name={hit.filename} width="44ch" />;
    case 'worker': return <OutsideId id={hit.label} width="24ch" />;
    case 'row': return hit.name === null ? <>{capitalised(rowNoun(hit))} <span className="dim"><ShortId id={hit.id} /></span></> : <OutsideName name={hit.name} width="44ch" />;
  }
}

function aboutOf(hit: FindHit) {
  switch (hit.kind) {
    case 'address': return 'e-mail address';
    case 'session': return <>{hit.email === null ? null : <><OutsideName name={hit.email} width="30ch" /> · </>}user <OutsideId id={hit.userId} width="18ch" /></>;
    case 'document': return <>document · <Owner userId={hit.userId} sessionId={hit.sessionId} /></>;
    case 'worker': return `${hit.role} process ${hit.version}${hit.capabilities.length > 0 ? ` · ${listed(hit.capabilities)}` : ''}`;
    case 'row': return hit.table === 'deployments' ? <>project <OutsideId id={hit.project ?? ''} width="22ch" /></> : <>{rowNoun(hit)} · <Owner userId={hit.userId} sessionId={hit.sessionId} /></>;
  }
}

function Owner({ userId, sessionId }: { userId: string | null; sessionId: string | null }) {
  return <>{sessionId === null ? null : <>session <OutsideId id={sessionId} width="16ch" />, </>}user <OutsideId id={userId ?? '–'} width="14ch" /></>;
}

function StateOf({ hit }: { hit: FindHit }) {
  const now = useNow();
  if (hit.kind === 'row') return <RowState row={hit} now={now} />;
  if (hit.kind === 'session') return <SessionState hit={hit} now={now} />;
  if (hit.kind === 'document') return <span className="dim"><Age at={hit.at} suffix=" ago" /></span>;
  return hit.kind === 'worker' ? <WorkerState condition={hit.condition} at={hit.startedAt} /> : null;
}

function RowState({ row, now, word }: { row: RowHit; now: number; word?: string }) {
  return <>{word ? <span className="dim">{word}</span> : null}<StateMark state={shownState(row, now)} /><span className="dim"><Age at={row.at} suffix=" ago" /></span></>;
}

/** A customer asks for the report; before there is one, the upload is the news. */
function SessionState({ hit: { analysis, upload }, now }: { hit: SessionHit; now: number }) {
  if (analysis) return <RowState row={analysis} now={now} word="report" />;
  return upload ? <RowState row={upload} now={now} word="upload" /> : <span className="dim">documents only</span>;
}

const conditions = {
  live: { tone: 'done', shape: 'tick', word: 'live' },
  drained: { tone: 'low', shape: 'box', word: 'drained' },
  draining: { tone: 'low', shape: 'ring', word: 'draining' },
  ended: { tone: 'off', shape: 'dash', word: 'ended' },
} as const;

function WorkerState({ condition, at }: { condition: keyof typeof conditions; at: number }) {
  const { tone, shape, word } = conditions[condition];
  return <><span className={`state tone-${tone}`}><Shape name={shape} />{word}</span><span className="dim">started <Age at={at} suffix=" ago" /></span></>;
}
