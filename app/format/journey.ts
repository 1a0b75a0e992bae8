import type { JourneyView } from '../../server/console/journey.js';
import type { StageState, StageView } from '../../server/console/journey-stages.js';
import type { RowView } from '../../server/console/row-view.js';
import { age, duration } from './age';
import { counted, listed } from './count';
import { clockTime } from './instant';
import type { Shape, Tone } from './state';

/** One map from a stage's state to word, tone and shape. */
export const stageLooks = {
  ahead: { word: 'ahead', tone: 'off', shape: 'ring' },
  waiting: { word: 'waits', tone: 'waiting', shape: 'box' },
  running: { word: 'under way', tone: 'held', shape: 'block' },
  slow: { word: 'alive, but not progressing', tone: 'low', shape: 'alert' },
  retrying: { word: 'waits for its next try', tone: 'low', shape: 'box' },
  interrupted: { word: 'its worker fell silent', tone: 'stale', shape: 'alert' },
  done: { word: 'done', tone: 'done', shape: 'tick' },
  partly: { word: 'done in part', tone: 'low', shape: 'tick' },
  failed: { word: 'failed', tone: 'failed', shape: 'cross' },
  cancelled: { word: 'cancelled', tone: 'off', shape: 'dash' },
} as const satisfies Record<StageState, { word: string; tone: Tone; shape: Shape }>;

const titles: Record<StageView['name'], string> = { uploaded: 'Uploaded', parsed: 'Parsed', claims: 'Claims extracted', checked: 'Citations checked', ready: 'Report ready' };

export interface StageLine {
  name: StageView['name'];
  title: string;
  state: StageState;
  figure: string;
  /** Facts beside the figure, in the order in which they matter. */
  notes: string[];
  /** When it ended or, if it has not, began. */
  at: number | null;
  ended: boolean;
}

/** From the upload to the report, one line each. */
export function stageLines(view: JourneyView): StageLine[] {
  return view.stages.map((stage) => ({
    name: stage.name, title: titles[stage.name], state: stage.state, figure: figureOf(stage),
    notes: [...(isCurrent(stage, view) ? paceNotes(view) : []), ...notesOf(stage, view)], at: stage.finishedAt ?? stage.startedAt, ended: stage.finishedAt !== null,
  }));
}

const stageOfStep = { files: 'parsed', indexing: 'parsed', reading: 'claims', checks: 'checked' } as const;

function isCurrent(stage: StageView, view: JourneyView): boolean {
  return view.step !== null && stageOfStep[view.step] === stage.name;
}

function figureOf({ name, state, total, done, unsuccessful }: StageView): string {
  if (name === 'uploaded') return total ? counted(total, 'file') : 'no upload here';
  if (name === 'parsed') return total ? `${done} of ${counted(total, 'file')}` : 'nothing to parse';
  if (name === 'claims' && total !== null) return counted(total, 'claim');
  if (name === 'checked' && total !== null) return total === 0 ? 'none to check' : `${(done ?? 0) + unsuccessful} of ${total}`;
  if (name === 'ready' && state === 'done') return 'ready';
  return state === 'ahead' ? 'not yet' : stageLooks[state].word;
}

function notesOf(stage: StageView, view: JourneyView): string[] {
  const { name, unsuccessful, holders, waitedMs, workedMs, retries, lostLeases, putBack } = stage;
  return [
    name === 'uploaded' ? uploadedNote(view) : null,
    unsuccessful > 0 ? `${unsuccessful} could not be ${name === 'parsed' ? 'read' : 'checked'}` : null,
    name === 'claims' && view.analysis?.marks ? `${view.analysis.marks.resolved} of ${counted(view.analysis.marks.seen, 'citation mark')} resolved` : null,
    name === 'ready' && view.analysis?.errorCode && stage.state === 'failed' ? view.analysis.errorCode : null,
    holders.length > 0 ? `held by ${listed(holders.slice(0, 3).map(({ label, version, n }) => `${label} (${version})${n > 1 ? ` ×${n}` : ''}`))}` : null,
    workedMs === null || waitedMs === null || stage.state === 'ahead' ? null : `waited ${duration(waitedMs)}, worked ${duration(workedMs)}`,
    lostLeases > 0 ? `${counted(lostLeases, 'lost lease')}` : null,
    putBack > 0 ? `put back ${counted(putBack, 'time')}, nothing charged` : null,
    retries > 0 ? `${counted(retries, 'failed try', 'failed tries')} repeated` : null,
  ].filter((note) => note !== null);
}

function uploadedNote({ uploads, linked, analysis, others }: JourneyView): string | null {
  const parts = [
    uploads > 1 ? `in ${uploads} uploads` : null,
    uploads === 0 && linked > 0 ? `${counted(linked, 'document')} linked from before` : null,
    analysis && analysis.pinned !== null ? `${counted(analysis.pinned, 'source')} pinned by the analysis` : null,
    others.laterFiles > 0 ? `${counted(others.laterFiles, 'file')} came later and ${others.laterFiles === 1 ? 'is' : 'are'} no part of it` : null,
  ].filter((part) => part !== null);
  return parts.length > 0 ? parts.join(', ') : null;
}

/** Why the current stage moves or does not, with figures. */
function paceNotes({ pace, step }: JourneyView): string[] {
  switch (pace?.kind) {
    case 'slow': return [`no progress for ${age(pace.idleMs)} (usual 95th percentile ${duration(pace.usualMs)})${pace.lastBeatAt === null ? '' : ', though its worker still beats'}`];
    case 'interrupted': return ['its lease has run out: the worker that held it fell silent'];
    case 'retry': return ['waits for its next try'];
    case 'paused': return ['the queue is paused'];
    case 'outage': return ['the queue rests: a service outside is down'];
    case 'no_worker': return ['no live worker can take it'];
    case 'own_turn': return ['another report of this user holds all the places that a user may have'];
    case 'queued': return [pace.ahead === 0 ? 'nothing is ahead of it' : step === 'checks' ? `citations of ${counted(pace.ahead, 'other report')} are being checked` : `${counted(pace.ahead, 'row')} ahead of it`];
    default: return [];
  }
}

export interface NextWords {
  text: string;
  /** Counted down where an instant is known. */
  label: string | null;
  at: number | null;
}

/** What happens next, and when. */
export function nextWords({ next, situation, pace }: JourneyView): NextWords {
  const { at } = next;
  switch (next.what) {
    case 'lease_end': return { text: `Its worker renews the lease with every beat${pace?.kind === 'slow' ? '. If it hangs, release its lease from its row' : ''}. Should the worker die, the row is given back after the lease ends.`, label: 'lease ends', at };
    case 'sweep': return { text: 'The sweep gives it back and another worker takes it; nothing is lost.', label: 'sweep', at };
    case 'resume': return { text: 'It goes on after someone resumes the queue.', label: null, at };
    case 'outage_try': return { text: 'The queue is tried again then, uncharged.', label: 'next try', at };
    case 'worker_start': return { text: 'It is taken as soon as a worker with that capability starts; nothing is lost meanwhile.', label: null, at };
    case 'retry': return { text: 'A worker takes it again when its backoff has ended.', label: 'retry', at };
    case 'own_turn': return { text: 'It is taken when a place of this user becomes free.', label: null, at };
    case 'look_again': return { text: 'The end of the session\'s last open upload wakes it; it looks by itself as well.', label: 'looks again', at };
    case 'poll': return { text: 'The next free slot takes it; a lost notification is made up for by the poll.', label: 'poll', at };
    default: return { text: ended[situation] ?? 'Nothing more.', label: null, at: null };
  }
}

const ended: Partial<Record<JourneyView['situation'], string>> = {
  finished: 'Nothing more: the report is ready.',
  failed: 'Nothing more: it has failed for good. The session keeps its documents; another analysis may be asked for at once.',
  cancelled: 'Nothing more: it was cancelled. Another analysis may be asked for at once.',
  reset: 'Nothing: the session\'s sources were reset. Documents must be uploaded or linked again first.',
  files_read: 'Nothing by itself: an analysis has to be asked for.',
  files_unread: 'Nothing: none of its files could be read. A new upload is needed.',
  documents: 'Nothing by itself: an analysis has to be asked for.',
};

/** Which of several this is about. */
export function whichWords({ analysis, others }: JourneyView, latest = true): string | null {
  if (!analysis || others.analyses === 0) return null;
  return `${latest ? 'The latest' : 'One'} of ${others.analyses + 1} analyses of this session.`;
}

/** How many citations have been dealt with, of how many. */
export function checkedOf(row: RowView): { done: number; total: number } {
  const total = Number(row.columns.total_children ?? 0);
  return { done: total - Number(row.columns.open_children ?? 0), total };
}

/** When it is expected, for an operator: a range in the zone of the answer, or why there is none. Null when nothing is open. */
export function etaWords({ eta, step, timeZone, asOf }: JourneyView): string | null {
  if (step === null) return null;
  if (eta === null) return 'No estimate: nothing moves, or too few runs of the last days to tell.';
  return `Expected between ${clockTime(eta.from, asOf, timeZone)} and ${clockTime(eta.to, asOf, timeZone)} ${timeZone}, four times of five.`;
}

export function redeployWords({ redeploys }: JourneyView): string | null {
  if (redeploys.length === 0) return null;
  return `Survived ${counted(redeploys.length, 'redeploy')}: ${listed(redeploys.slice(0, 3).map(({ role, fromVersion, toVersion }) => `${role} ${fromVersion} → ${toVersion}`))}${redeploys.length > 3 ? ' and others' : ''}.`;
}

const actions: Record<string, string> = {
  release: 'Lease released', force_release: 'Lease taken away by force', rekick: 'Queued again', cancel: 'Cancelled', reset_sources: 'Sources reset',
};

/** What an operator did; an action not listed is called by its own name. */
export function actionWords(action: string): string {
  return Object.hasOwn(actions, action) ? actions[action]! : action.replaceAll('_', ' ');
}
