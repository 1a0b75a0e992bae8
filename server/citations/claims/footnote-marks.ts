import type { FoundMark, Lookalike } from './found-mark.js';
import { NOTE_REFERENCE } from './footnotes.js';

/** A footnote with its words, and what it cites. */
export interface ReadNote {
  page: number;
  number: number;
  text: string;
  cites: FoundMark[];
}

/**
 * Finds the small numbers of footnotes: each note of a page once, in order. The marks are those that the note holds, placed where its
 * number stands.
 */
export function findFootnoteMarks(text: string, notes: readonly ReadNote[], pageAt: (at: number) => number): { marks: FoundMark[]; lookalikes: Lookalike[] } {
  const marks: FoundMark[] = [];
  const lookalikes: Lookalike[] = [];
  const waiting = [...notes];
  for (const match of text.matchAll(NOTE_REFERENCE)) {
    const page = pageAt(match.index);
    const i = waiting.findIndex((note) => note.page === page && note.number === Number(match.groups?.number));
    const note = waiting[i];
    if (!note) continue;
    waiting.splice(i, 1);
    const at = { from: match.index, to: match.index + match[0].length };
    if (note.cites.length === 0) lookalikes.push({ reason: 'footnote_without_citation', ...at });
    marks.push(...note.cites.map((cited): FoundMark => ({ ...cited, kind: 'footnote', ...at })));
  }
  return { marks, lookalikes };
}
