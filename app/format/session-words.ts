import type { SourceView } from '../../server/console/session-documents.js';
import type { SessionPage } from '../../server/console/session.js';
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
      : { bad: false, text: 'Yes, now', detail: `From ${counted(chunks, 'chunk')}, ${count(Math.round(chars / 1000))} thousand characters.${beyond}` },
  };
}
