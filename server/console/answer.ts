/**
 * One sentence that support may paste to a customer, in English and in formal German. It holds counts and times of the customer's own work:
 * no text of a document, no name of a file, nobody's id, no word of our own machinery (a test holds the list). It never says that something
 * comes soon without an instant to show for it, and never that the customer did something wrong. Pure.
 */
import { english } from './answer-en.js';
import { answerTimes } from './answer-time.js';
import { german } from './answer-de.js';
import type { Pace, Progress, Step } from './journey-pace.js';
import type { FileFailure } from './journey-rows.js';

export interface Answer {
  en: string;
  de: string;
}

/** Instants in milliseconds since 1970: with four chances in five it is done between the two. */
export interface Eta {
  from: number;
  to: number;
}

/** Files that could not be read, by the stable code of what was wrong with them. */
export interface Unread {
  code: string;
  n: number;
}

export type Situation =
  | { kind: 'not_found' }
  | { kind: 'finished'; at: number; citations: number; unchecked: number; files: number; unread: Unread[]; later: number }
  | { kind: 'failed'; code: string; files: number; unread: Unread[] }
  | { kind: 'cancelled'; at: number }
  | { kind: 'reset' }
  | UnderWay
  | { kind: 'files_read'; read: number; files: number; unread: Unread[] }
  | { kind: 'files_unread'; files: number; unread: Unread[] }
  | { kind: 'documents'; n: number };

export interface UnderWay {
  kind: 'under_way';
  goal: 'report' | 'upload';
  step: Step;
  pace: Pace;
  /** Files read, or citations checked, of how many. */
  done: number;
  total: number;
  /** Citations whose check failed for good. */
  unchecked: number;
  files: number;
  unread: Unread[];
  /** What it was interrupted by and has got over. */
  continued: 'update' | 'interruption' | null;
  eta: Eta | null;
}

export interface Told extends Progress {
  step: Step | null;
  pace: Pace | null;
  eta: Eta | null;
  linked: number;
  laterFiles: number;
  survivedRedeploys: number;
}

/** @param timeZone IANA name; every instant says its zone. */
export function answerOf(situation: Situation, timeZone = 'UTC'): Answer {
  return { en: english(situation, answerTimes('en-GB', timeZone)), de: german(situation, answerTimes('de-DE', timeZone)) };
}

export function situationOf(told: Told): Situation {
  if (told.step !== null) return underWay(told, told.step);
  const { analysis, files } = told;
  const unread = unreadOf(files.failures);
  if (analysis?.state === 'succeeded') {
    return { kind: 'finished', at: analysis.finishedAt!, citations: told.checks?.total ?? 0, unchecked: uncheckedOf(told), files: files.total, unread, later: told.laterFiles };
  }
  if (told.linked === 0 && (files.succeeded > 0 || analysis)) return { kind: 'reset' };
  if (analysis) return analysis.state === 'cancelled' ? { kind: 'cancelled', at: analysis.finishedAt! } : { kind: 'failed', code: analysis.errorCode ?? 'internal', files: files.total, unread };
  if (files.total === 0) return { kind: 'documents', n: told.linked };
  return files.succeeded > 0 ? { kind: 'files_read', read: files.succeeded, files: files.total, unread } : { kind: 'files_unread', files: files.total, unread };
}

function underWay(told: Told, step: Step): UnderWay {
  const { analysis, files, checks } = told;
  const counted = step === 'checks' && checks ? { done: checks.succeeded, total: checks.total } : { done: files.succeeded, total: files.total };
  return {
    kind: 'under_way', goal: analysis ? 'report' : 'upload', step, pace: told.pace!, ...counted, unchecked: uncheckedOf(told), files: files.total, unread: unreadOf(files.failures),
    continued: continuedAfter(told), eta: told.eta,
  };
}

function uncheckedOf({ checks }: Progress): number {
  return checks ? checks.failed + checks.cancelled : 0;
}

/** Said only of work that goes on: what still lies idle because of it is told as that. */
function continuedAfter({ files, uploads, reading, checks, pace, survivedRedeploys }: Told): UnderWay['continued'] {
  const groups = [files, uploads, reading, checks].filter((group) => group !== null);
  if (pace!.kind === 'interrupted' || !groups.some((group) => group.lostLeases + group.putBack > 0)) return null;
  return survivedRedeploys > 0 ? 'update' : 'interruption';
}

/** Commonest first. */
function unreadOf(failures: readonly FileFailure[]): Unread[] {
  const counts = new Map<string, number>();
  for (const { code } of failures) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([code, n]) => ({ code, n })).sort((a, b) => b.n - a.n || (a.code < b.code ? -1 : 1));
}
