import { readBibliography, type Bibliography, type BibliographyEntry } from './bibliography.js';
import { pageOf, type DocumentText } from './document-text.js';
import { flowOf, wordsOf, type Flow } from './flow.js';
import { splitFootnotes } from './footnotes.js';
import { linesOf } from './lines.js';
import type { Claim, Mark, Place } from './claim.js';
import type { Lookalike } from './found-mark.js';
import { MarkFinder, type ResolvedMark } from './marks.js';
import { withoutFurniture } from './page-furniture.js';
import { groundClaims } from './claim-ranges.js';
import { languageOf, sentencesOf, type Language } from './sentences.js';
import { summarise, type Summary } from './summary.js';

export interface ClaimsResult {
  language: Language;
  bibliography: BibliographyEntry[];
  marks: Mark[];
  claims: Claim[];
  /** What looked like a mark and was passed over, and why. */
  lookalikes: (Place & { reason: Lookalike['reason']; text: string })[];
  summary: Summary;
}

/**
 * Everything a thesis cites, from its text alone. Pure and synchronous: it holds the thread for as long as it takes (a paper of a hundred
 * thousand characters: half a second), so run it in a process of its own.
 */
export function extractClaims(document: DocumentText): ClaimsResult {
  const lines = withoutFurniture(linesOf(document));
  const words = wordsOf(lines);
  const split = splitFootnotes(lines);
  const bibliography = readBibliography(split.body, words);
  const flow = flowOf(bibliography.rest, words);
  const finder = new MarkFinder(bibliography);
  const found = finder.find(flow.text, finder.readNotes(split.notes, words), {
    pageAt: (at) => pageOf(document, flow.offset(at)),
    startsLine: (at) => at === 0 || document.text.charAt(flow.offset(at) - 1) === '\n',
  });
  return toResult(document, flow, bibliography, found);
}

function toResult(document: DocumentText, flow: Flow, bibliography: Bibliography, found: ReturnType<MarkFinder['find']>): ClaimsResult {
  const language = languageOf(flow.text);
  const sentences = sentencesOf(flow.text, language, found.marks);
  const marks = found.marks.map((mark) => toMark(document, flow, mark));
  const lookalikes = found.lookalikes.map(({ from, to, reason }) => ({ ...placeOf(document, flow, from, to), text: flow.text.slice(from, to), reason }));
  const claims = groundClaims(flow.text, sentences, found.marks).map(({ from, to, marks: own }, ordinal) => toClaim({ document, flow, marks, from, to, own, ordinal }));
  return { language, bibliography: bibliography.entries, marks, claims, lookalikes, summary: summarise({ marks, claims, lookalikes, sentences: sentences.length, bibliography }) };
}

function toMark(document: DocumentText, flow: Flow, mark: ResolvedMark): Mark {
  const { resolution, kind, locator, from, to } = mark;
  const cited = mark.cites.by === 'note' ? mark.cites.text : flow.text.slice(from, to);
  const outcome = resolution.entry === null ? { entry: null, reason: resolution.reason } : { entry: resolution.entry.index, reason: null };
  return { kind, text: cited, locator, ...placeOf(document, flow, from, to), ...outcome };
}

interface ClaimParts {
  document: DocumentText;
  flow: Flow;
  marks: readonly Mark[];
  from: number;
  to: number;
  own: number[];
  ordinal: number;
}

function toClaim({ document, flow, marks, from, to, own, ordinal }: ClaimParts): Claim {
  const place = placeOf(document, flow, from, to);
  const first = marks[own[0]!]!;
  return {
    ordinal, ...place,
    sentence: document.text.slice(place.charFrom, place.charTo),
    reading: flow.text.slice(from, to).replace(/\s+/g, ' '),
    marks: own, markText: first.text, locator: own.map((i) => marks[i]!.locator).find((locator) => locator !== null) ?? null,
    entry: first.entry, reason: first.reason,
  };
}

function placeOf(document: DocumentText, flow: Flow, from: number, to: number): Place {
  const range = flow.range(from, to);
  return { page: pageOf(document, range.charFrom), ...range };
}
