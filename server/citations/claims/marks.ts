import { findAuthorYearMarks } from './author-year-marks.js';
import type { Bibliography } from './bibliography.js';
import type { FoundMark, Lookalike } from './found-mark.js';
import { findFootnoteMarks, type ReadNote } from './footnote-marks.js';
import type { Footnote } from './footnotes.js';
import { flowOf } from './flow.js';
import { findLabelMarks } from './label-marks.js';
import { Resolver, type Resolution } from './resolve.js';

export interface ResolvedMark extends FoundMark {
  resolution: Resolution;
}

/** Where positions of the text lie on their pages. */
interface Where {
  /** 1-based. */
  pageAt: (at: number) => number;
  startsLine: (at: number) => boolean;
}

interface Marks {
  /** In the order of the text. */
  marks: ResolvedMark[];
  lookalikes: Lookalike[];
}

/** Reads a list of references once and then finds the marks that cite from it. */
export class MarkFinder {
  private readonly resolver: Resolver;
  private readonly organisations: string[];
  private readonly known: { labels: Set<string>; any: boolean };

  constructor(bibliography: Bibliography) {
    this.resolver = new Resolver(bibliography);
    this.organisations = bibliography.entries.filter((entry) => entry.corporate)
      .flatMap((entry) => [...entry.authors, ...entry.aliases]).filter((name) => name !== '').sort((a, b) => b.length - a.length);
    const labels = bibliography.labels === 'none' ? [] : bibliography.entries.flatMap((entry) => entry.label ?? []);
    this.known = { labels: new Set(labels), any: bibliography.entries.length === 0 };
  }

  /** All marks of the body, each with the work it cites or the reason why none was found. */
  find(text: string, notes: readonly ReadNote[], where: Where): Marks {
    const found = [
      findAuthorYearMarks(text, { organisations: this.organisations }),
      findLabelMarks(text, { ...this.known, startsLine: where.startsLine }),
      findFootnoteMarks(text, notes, where.pageAt),
    ];
    const resolved = found.flatMap(({ marks }) => marks).map((mark) => this.resolve(mark)).sort((a, b) => a.from - b.from);
    const marks = resolved.filter((mark) => !isUnknownBare(mark));
    const bare = resolved.filter(isUnknownBare).map(({ from, to }): Lookalike => ({ reason: 'unknown_bare_name', from, to }));
    return { marks, lookalikes: [...found.flatMap(({ lookalikes }) => lookalikes), ...bare].sort((a, b) => a.from - b.from) };
  }

  /** Reads footnotes in order; "Ebd." cites what the note before cited. */
  readNotes(notes: readonly Footnote[], words: ReadonlySet<string>): ReadNote[] {
    let last: FoundMark[] = [];
    return notes.map((note) => {
      const text = flowOf(note.lines.map((line) => ({ ...line, after: 'line' })), words).text.replace(/^\d{1,3}\)?\s?/u, '');
      const cites = this.citesOf(text, last);
      if (cites.length > 0) last = cites.slice(-1);
      return { page: note.page, number: note.number, text, cites };
    });
  }

  private citesOf(text: string, last: FoundMark[]): FoundMark[] {
    if (/^(?:Vgl\.\s|Siehe\s|See\s)?(?:ebd|ebenda|ibid|ders|dies|idem|a\. ?a\. ?O)\b\.?/iu.test(text)) return last;
    const { marks } = findAuthorYearMarks(text, { organisations: this.organisations, cited: true });
    const { marks: labelled } = findLabelMarks(text, { ...this.known, startsLine: () => false });
    const dated = marks.filter((mark) => this.resolver.resolve(mark.cites).entry !== null || !hasCitingWord(text));
    if (dated.length + labelled.length > 0) return [...dated, ...labelled];
    const byTitle: FoundMark = { kind: 'footnote', from: 0, to: text.length, cites: { by: 'note', text }, locator: null };
    const known = this.resolver.resolve(byTitle.cites).entry !== null && (hasCitingWord(text) || /\b(?:S|pp?)\. ?\d/.test(text));
    return known || marks.length > 0 || hasCitingWord(text) ? [byTitle] : [];
  }

  private resolve(mark: FoundMark): ResolvedMark {
    const resolution = this.resolver.resolve(mark.cites);
    const skipped = resolution.entry === null ? 0 : resolution.skippedNames;
    const start = mark.cites.by === 'author_year' && skipped > 0 && mark.cites.starts[0] === mark.from ? mark.cites.starts[skipped] : undefined;
    return { ...mark, from: start ?? mark.from, resolution };
  }
}

function isUnknownBare(mark: ResolvedMark): boolean {
  return mark.cites.by === 'author_year' && mark.cites.bare && mark.kind === 'author_year' && mark.resolution.entry === null;
}

function hasCitingWord(text: string): boolean {
  return /^(?:vgl\.|siehe|s\.|so|see|cf\.|zit\.)\s/iu.test(text);
}
