import type { RowPage } from '../../server/console/row-page.js';
import { nextSweepAt } from './attention';
import { counted } from './count';
import { shownState } from './state';

/** What happens next to a row, and when if that is known (milliseconds, database clock). */
export interface NextStep {
  text: string;
  at: number | null;
  /** What the instant is: "lease ends", "sweep". */
  label: string | null;
}

type Known = Pick<RowPage, 'row' | 'queue' | 'sweep' | 'capability' | 'capableWorkers' | 'knowingWorkers' | 'pausedReason' | 'breakerUntil'>;

export function nextStep(page: Known, now: number): NextStep {
  switch (shownState(page.row, now)) {
    case 'awaiting': return awaiting(page);
    case 'queued': return waiting(page, now);
    case 'running': return running(page);
    case 'building': return page.row.worker ? running(page) : waiting(page, now);
    case 'stale': return stale(page);
    case 'succeeded': return plain('Nothing more: it is done.');
    case 'live': return plain('Nothing more: it is live. The next publish takes the lock again.');
    case 'failed': return plain(afterFailure[page.queue.table] ?? 'Nothing more: it has failed for good, and its uploaded bytes are erased. A new upload is a new row.');
    case 'cancelled': return plain('Nothing more: it was cancelled.');
  }
}

const afterFailure: Record<string, string> = {
  deployments: 'Nothing more: the lock is free, and the next publish begins anew. What was live before still serves.',
  analysis_jobs: 'Nothing more: it has failed for good. The session keeps its documents; another analysis may be asked for at once.',
  job_citations: 'Nothing more: its check failed for good. The report says of it that it was not checked.',
};

function awaiting({ row, queue }: Known): NextStep {
  const open = Number(row.columns.open_children ?? 0);
  if (queue.table === 'analysis_jobs') return plain(`The report is ready when the last of its ${counted(open, 'open citation')} has ended.`);
  return plain(`It is queued when the last of its ${counted(open, 'open file')} has ended.`);
}

function plain(text: string): NextStep {
  return { text, at: null, label: null };
}

function waiting({ row, pausedReason, capability, capableWorkers, knowingWorkers, breakerUntil }: Known, now: number): NextStep {
  if (pausedReason !== null) return plain(`The queue is paused (${pausedReason}). It is taken after someone resumes the queue.`);
  if (capableWorkers === 0) return plain(`No live worker advertises “${capability}”. It is taken as soon as one starts; nothing is lost meanwhile.`);
  if (knowingWorkers === 0) return plain(`It waits for a newer worker: ${counted(capableWorkers, 'live worker')} can take this work, but none knows kind “${row.kind}” at schema version ${row.schemaVersion}. A worker that does takes it at once; until then nothing is charged and nothing expires.`);
  if (breakerUntil !== null && breakerUntil > now) return { text: 'The queue rests because a service outside is down. It is tried again then, uncharged.', at: breakerUntil, label: 'next try' };
  if (row.runAfter > now && row.table === 'analysis_jobs' && row.errorCode === null) {
    return { text: 'The end of the session\'s last open upload wakes it; it looks by itself as well.', at: row.runAfter, label: 'looks again' };
  }
  if (row.runAfter > now) return { text: 'A worker takes it when its backoff has ended.', at: row.runAfter, label: 'retry' };
  return plain(`The next free slot takes it (${counted(knowingWorkers, 'live worker')}).`);
}

function running({ row }: Known): NextStep {
  const left = row.maxAttempts - row.attempt;
  return {
    text: `Its worker renews the lease with every beat and settles it when done. Should the worker die, the row is given back after the lease ends; should the work fail, ${counted(left, 'attempt')} ${left === 1 ? 'is' : 'are'} left.`,
    at: row.leaseExpiresAt, label: 'lease ends',
  };
}

function stale({ sweep }: Known): NextStep {
  return {
    text: 'The sweep gives it back and another worker takes it. If the old worker wakes up, its writes are refused by the token.',
    at: nextSweepAt(sweep), label: 'sweep',
  };
}
