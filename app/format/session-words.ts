import type { SourceView } from '../../server/console/session-documents.js';
import type { RebuildAnswer } from '../../server/console/session-rebuild.js';
import type { SessionPage } from '../../server/console/session.js';
import { age, duration } from './age';
import { count, counted } from './count';

export function sessionPath(sessionId: string, userId: string): string {
  return `/sessions/${encodeURIComponent(sessionId)}?user=${encodeURIComponent(userId)}`;
}

/** Documents of which less is persisted than the parser made: they could not be indexed again. */
export function lostOf(sources: readonly SourceView[]): SourceView[] {
  return sources.filter((source) => source.chunks < (source.made ?? 1));
}

export const linkedByWords: Record<string, string> = {
  upload: 'the upload', parse_item: 'the parser', parse_job: 'the end of the upload', resolve: 'the product backend',
};

export interface SessionOutlook {
  lost: { bad: boolean; text: string; detail: string };
  rebuild: { bad: boolean; text: string; detail: string };
}

/** What a stop of every process would take from this session now, and whether its index could be made again. */
export function sessionOutlook({ sources, moreSources, staged }: SessionPage): SessionOutlook {
  const lost = lostOf(sources);
  const chunks = sources.reduce((sum, source) => sum + source.chunks, 0);
  const chars = sources.reduce((sum, source) => sum + source.chars, 0);
  const waiting = staged.open > 0 ? ` ${counted(staged.open, 'file')} not parsed yet: the bytes wait in Postgres.` : '';
  const beyond = moreSources ? ` Of the first ${sources.length} documents.` : '';
  if (lost.length > 0) {
    const names = `${counted(lost.length, 'document')} lack${lost.length === 1 ? 's' : ''} chunks`;
    return {
      lost: { bad: true, text: names, detail: `Ask for ${lost.length === 1 ? 'that upload' : 'those uploads'} again.${waiting}${beyond}` },
      rebuild: { bad: true, text: 'Not in full', detail: `${names}; the rest could be indexed now.${beyond}` },
    };
  }
  const all = sources.length === 0 ? 'No document is linked.' : `Every chunk of ${counted(sources.length, 'document')} is in Postgres.`;
  return {
    lost: { bad: false, text: 'Nothing', detail: `${all}${waiting}${beyond}` },
    rebuild: sources.length === 0 ? { bad: false, text: 'Nothing to index', detail: 'It is made from the chunks of linked documents.' }
      : { bad: false, text: 'Yes, by the counts', detail: `From ${counted(chunks, 'chunk')}, ${characters(chars)}.${beyond}` },
  };
}

/** Exact below ten thousand. */
function characters(n: number): string {
  return n < 10_000 ? counted(n, 'character') : `${count(Math.round(n / 1000))} thousand characters`;
}

export interface TrialWords {
  outcome: string;
  bad: boolean;
  text: string;
  detail: string;
}

/** What came of trying to build the index. */
export function rebuildWords(answer: RebuildAnswer | { outcome: 'failed' }): TrialWords {
  const good = (text: string, detail: string) => ({ outcome: answer.outcome, bad: false, text, detail });
  switch (answer.outcome) {
    case 'built': return good(`Built in ${duration(answer.tookMs)}.`, `${counted(answer.chunks, 'chunk')} of ${counted(answer.documents, 'document')}, ${characters(answer.chars)}; it answered, and was thrown away. In this web process; a worker builds its own.`);
    case 'nothing_linked': return good('Nothing to build.', 'No chunk of a linked document is persisted.');
    case 'too_large': return good('Not tried.', `It has more than ${characters(answer.limitChars)}, too much for the web process. A worker has no such limit.`);
    case 'too_slow': return good('Stopped.', `${counted(answer.chunks, 'chunk')} were read in ${duration(answer.tookMs)}, then this process gave up. A worker may take as long as it beats.`);
    case 'busy': return good('Not tried.', 'Another one is being tried in this process; try again in a moment.');
    case 'differs': return { outcome: answer.outcome, bad: true, text: 'Not as expected.', detail: `${counted(answer.chunks, 'chunk')} were indexed, ${count(answer.expected)} expected. If documents were linked or unlinked just now, try again; else ask for the uploads again.` };
    case 'failed': return { outcome: answer.outcome, bad: true, text: 'Could not be tried.', detail: 'The database refused or did not answer in time; the log says more. Try again in a moment.' };
  }
}

/** Whose memory may hold the session's index. The console cannot look into it, and says so. */
export function cacheWords({ keepers, cacheSeconds }: Pick<SessionPage, 'keepers' | 'cacheSeconds'>): { text: string; detail: string } {
  const detail = `Each process that checks citations keeps its own copy, at most ${age(cacheSeconds * 1000)}; no other process can look into it, and a miss only costs the time of building it.`;
  return { text: keepers.length === 0 ? 'By no live process, as far as the history knows' : `Perhaps by ${counted(keepers.length, 'process', 'processes')}`, detail };
}
