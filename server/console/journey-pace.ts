/** What a journey is at, and how it moves. Pure. */
import type { Group } from './journey-group.js';
import type { Outlook } from './journey-outlook.js';
import type { AnalysisFacts, ChecksFacts, FilesFacts, UploadsFacts } from './journey-rows.js';

/** Files are read; what they contain is embedded and linked; the thesis is read for its claims; each citation is checked. */
export type Step = 'files' | 'indexing' | 'reading' | 'checks';

export interface Progress {
  analysis: AnalysisFacts | null;
  files: FilesFacts;
  uploads: UploadsFacts;
  reading: Group | null;
  checks: ChecksFacts | null;
}

/** What is being done, or would be if somebody took it; null when everything that was asked for has ended. */
export function stepOf({ analysis, files, uploads }: Progress): Step | null {
  if (analysis && analysis.finishedAt !== null) return null;
  if (files.total > files.succeeded + files.failed + files.cancelled) return 'files';
  if (!analysis?.readAt && uploads.awaiting + uploads.queued + uploads.running + uploads.stale > 0) return 'indexing';
  if (!analysis) return null;
  return analysis.state === 'awaiting' ? 'checks' : 'reading';
}

export function groupOf(progress: Progress, step: Step): Group {
  return { files: progress.files, indexing: progress.uploads, reading: progress.reading!, checks: progress.checks! }[step];
}

/** Why it moves or does not. Instants in milliseconds since 1970, null where nobody can know. */
export type Pace =
  | { kind: 'moving' }
  /** Held and beating, but nothing came of it for longer than the usual 95th percentile. */
  | { kind: 'slow'; idleMs: number; usualMs: number; lastBeatAt: number | null }
  /** Its holder fell silent; the sweep gives it back. */
  | { kind: 'interrupted'; at: number | null }
  | { kind: 'paused'; since: number }
  | { kind: 'outage'; at: number }
  | { kind: 'no_worker' }
  | { kind: 'retry'; at: number }
  /** Another report of the same user holds all the places that a user may have. */
  | { kind: 'own_turn' }
  | { kind: 'queued'; ahead: number };

export interface Surroundings {
  outlook: Outlook;
  usualMs: number | null;
  /** Others that come before it: rows of the queue, or reports being checked. */
  ahead: number;
  /** Rows of this user that are held elsewhere, and how many a user may have held; of checks alone. */
  heldElsewhere: number;
  userCap: number;
}

/** What holds back everything comes first, then what holds back this one. */
export function paceOf(group: Group, { outlook, usualMs, ahead, heldElsewhere, userCap }: Surroundings): Pace {
  if (outlook.pausedAt !== null && group.queued + group.stale > 0) return { kind: 'paused', since: outlook.pausedAt };
  if (outlook.restsUntil !== null && group.queued > 0) return { kind: 'outage', at: outlook.restsUntil };
  if (group.running > 0) return runningPace(group, usualMs);
  if (group.stale > 0) return { kind: 'interrupted', at: outlook.nextSweepAt };
  if (outlook.capableWorkers === 0) return { kind: 'no_worker' };
  if (group.retrying > 0 && group.retrying === group.queued) return { kind: 'retry', at: group.nextTryAt! };
  if (heldElsewhere >= userCap) return { kind: 'own_turn' };
  return { kind: 'queued', ahead };
}

function runningPace({ idleMs, lastBeatAt }: Group, usualMs: number | null): Pace {
  const slow = idleMs !== null && usualMs !== null && idleMs > usualMs;
  return slow ? { kind: 'slow', idleMs, usualMs, lastBeatAt } : { kind: 'moving' };
}

/** What happens next, and when: `at` is the instant of the event, null where only somebody's act or the work itself brings it. */
export interface NextEvent {
  what: 'lease_end' | 'sweep' | 'resume' | 'outage_try' | 'worker_start' | 'retry' | 'own_turn' | 'poll' | 'look_again' | 'start_analysis' | 'upload_again' | 'nothing';
  at: number | null;
}

export function nextEvent(pace: Pace | null, group: Group | null, analysis: AnalysisFacts | null, asOf: number, pollSeconds: number): NextEvent {
  switch (pace?.kind) {
    case 'moving': case 'slow': return { what: 'lease_end', at: group!.leaseEndsAt };
    case 'interrupted': return { what: 'sweep', at: pace.at };
    case 'paused': return { what: 'resume', at: null };
    case 'outage': return { what: 'outage_try', at: pace.at };
    case 'no_worker': return { what: 'worker_start', at: null };
    case 'retry': return { what: 'retry', at: pace.at };
    case 'own_turn': return { what: 'own_turn', at: null };
    case 'queued': return analysis?.state === 'queued' && analysis.runAfter > asOf ? { what: 'look_again', at: analysis.runAfter } : { what: 'poll', at: asOf + pollSeconds * 1000 };
    case undefined: return { what: 'nothing', at: null };
  }
}
