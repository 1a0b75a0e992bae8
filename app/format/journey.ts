import type { ReportPage } from '../../server/console/report.js';
import type { RowView } from '../../server/console/row-view.js';
import { counted, listed } from './count';
import type { Shape, Tone } from './state';

export interface Step {
  key: 'uploaded' | 'parsed' | 'claims' | 'checked' | 'ready';
  title: string;
  status: 'done' | 'now' | 'ahead' | 'failed';
  figure: string;
  note: string | null;
  at: number | null;
}

export const stepLooks = {
  done: { word: 'done', tone: 'done', shape: 'tick' },
  now: { word: 'now', tone: 'held', shape: 'block' },
  ahead: { word: 'ahead', tone: 'waiting', shape: 'ring' },
  failed: { word: 'failed', tone: 'failed', shape: 'cross' },
} as const satisfies Record<Step['status'], { word: string; tone: Tone; shape: Shape }>;

/** From the upload to the report. `row` is the analysis as last heard of, perhaps newer than the page. */
export function journeyOf(page: ReportPage, row: RowView): Step[] {
  return [uploaded(page), parsed(page), claims(page, row), checked(page, row), ready(row)];
}

/** How many citations have been dealt with, of how many. */
export function checkedOf(row: RowView): { done: number; total: number } {
  const total = Number(row.columns.total_children ?? 0);
  return { done: total - Number(row.columns.open_children ?? 0), total };
}

function uploaded({ files }: ReportPage): Step {
  const figure = files.total === 0 ? 'no upload here' : counted(files.total, 'file');
  const note = files.total === 0 ? 'its documents were linked from elsewhere' : null;
  return { key: 'uploaded', title: 'Uploaded', status: 'done', figure, note, at: files.firstAt };
}

function parsed({ files }: ReportPage): Step {
  const open = files.total - files.succeeded - files.unread;
  const unread = files.unread > 0 ? `${files.unread} could not be read` : null;
  const note = open > 0 ? [`${open} still open`, unread].filter(Boolean).join(', ') : unread;
  return { key: 'parsed', title: 'Parsed', status: open > 0 ? 'now' : 'done', figure: `${files.succeeded} of ${counted(files.total, 'file')}`, note, at: files.parsedAt };
}

function claims(page: ReportPage, row: RowView): Step {
  const step = { key: 'claims', title: 'Claims extracted', at: page.readAt } as const;
  if (page.reading) {
    const { claimsTotal, marksSeen, marksResolved } = page.reading;
    return { ...step, status: 'done', figure: counted(claimsTotal, 'claim'), note: `${marksResolved} of ${counted(marksSeen, 'citation mark')} resolved` };
  }
  if (row.state === 'failed' || row.state === 'cancelled') return { ...step, status: 'failed', figure: row.state, note: row.errorCode };
  if (row.state === 'running') return { ...step, status: 'now', figure: 'being read', note: row.worker ? `by ${row.worker.label} (${row.worker.version})` : null };
  if (row.state !== 'queued') return { ...step, status: 'done', figure: 'read', note: null };   // a moment ago: the page is being read again
  const open = page.files.total - page.files.succeeded - page.files.unread;
  return { ...step, status: 'ahead', figure: 'not yet', note: open > 0 ? 'waits until every file is parsed' : 'waits for a worker' };
}

function checked(page: ReportPage, row: RowView): Step {
  const { done, total } = checkedOf(row);
  const step = { key: 'checked', title: 'Citations checked', at: page.lastCheckAt } as const;
  if (!page.reading) return { ...step, status: 'ahead', figure: 'not yet', note: null };
  const figure = total === 0 ? 'none to check' : `${done} of ${total}`;
  if (done === total) return { ...step, status: 'done', figure, note: page.verdicts.not_checked > 0 ? `${page.verdicts.not_checked} could not be checked` : null };
  if (row.state === 'cancelled' || row.state === 'failed') return { ...step, status: 'failed', figure, note: row.state };
  const held = page.holders.reduce((sum, holder) => sum + holder.n, 0);
  return { ...step, status: 'now', figure, note: held > 0 ? `${held} held by ${listed(page.holders.slice(0, 3).map(({ label, version }) => `${label} (${version})`))}` : 'waits for a worker' };
}

function ready(row: RowView): Step {
  const step = { key: 'ready', title: 'Report ready', at: row.finishedAt, note: null } as const;
  if (row.state === 'succeeded') return { ...step, status: 'done', figure: 'ready' };
  if (row.state === 'failed' || row.state === 'cancelled') return { ...step, status: 'failed', figure: row.state, note: row.errorCode };
  return { ...step, status: 'ahead', figure: 'not yet', note: null };
}
