import { splitEntries } from './bibliography-entries.js';
import { readEntry, type EntryParts } from './bibliography-entry.js';
import { findSections } from './bibliography-section.js';
import { flowOf } from './flow.js';
import type { Line } from './lines.js';

/** One work of a list of references. */
export interface BibliographyEntry extends EntryParts {
  /** 0-based, in the order of the list. */
  index: number;
  label: string | null;
  /** The entry in one line, words put together again. */
  text: string;
  page: number;
  charFrom: number;
  charTo: number;
}

export interface Bibliography {
  entries: BibliographyEntry[];
  /** How the entries are labelled, which decides what [3] and [KR06] mean. */
  labels: 'none' | 'numbers' | 'alpha';
  /** Everything that belongs to no list of references. */
  rest: Line[];
}

/** Finds the lists of references and reads them. A text without one has no entries, and all its lines are `rest`. */
export function readBibliography(lines: readonly Line[], words: ReadonlySet<string>): Bibliography {
  const sections = findSections(lines);
  const entries = sections.flatMap((section) => splitEntries(lines, section))
    .map((raw, index) => toEntry(raw.lines, raw.label, index, words));
  const rest = lines.filter((_, i) => !sections.some((section) => i >= section.heading && i < section.end));
  return { entries, labels: labelsOf(entries), rest };
}

function toEntry(lines: Line[], label: string | null, index: number, words: ReadonlySet<string>): BibliographyEntry {
  const first = lines[0]!;
  const whole = flowOf(lines.map((line) => ({ ...line, after: 'line', page: first.page })), words).text.trim();
  const text = label === null ? whole : whole.replace(/^[[(]?[^\s\])]+(?:\s\d+[a-z]?(?=[\])]))?[\]).]*\s*/u, '');
  return { index, label: label?.replace(/\s/g, '') ?? null, text, page: first.page, charFrom: first.from, charTo: lines.at(-1)!.to, ...readEntry(text) };
}

function labelsOf(entries: readonly BibliographyEntry[]): Bibliography['labels'] {
  const labels = entries.flatMap((entry) => entry.label ?? []);
  if (labels.length * 2 < entries.length || labels.length === 0) return 'none';
  return labels.filter((label) => /^\d+$/.test(label)).length * 2 > labels.length ? 'numbers' : 'alpha';
}
