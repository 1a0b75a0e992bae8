import type { CitationFilters, ShownVerdict } from '../../server/console/report-filters.js';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import { filterQuery } from './filters';
import type { Shape, Tone } from './state';

/** One map from verdict to word, tone and shape. */
export const verdictLooks = {
  supported: { word: 'supported', tone: 'done', shape: 'tick' },
  partly_supported: { word: 'partly', tone: 'low', shape: 'ring' },
  not_supported: { word: 'not supported', tone: 'stale', shape: 'cross' },
  source_missing: { word: 'source missing', tone: 'waiting', shape: 'box' },
  not_checked: { word: 'not checked', tone: 'off', shape: 'dash' },
  open: { word: 'to be checked', tone: 'held', shape: 'block' },
} as const satisfies Record<ShownVerdict, { word: string; tone: Tone; shape: Shape }>;

/** The query of a report's URL, "" or "?…"; server/console/report-filters.ts reads it back (tested to round-trip). */
export function citationQuery({ verdict, after, before }: CitationFilters): string {
  const query = new URLSearchParams();
  if (verdict !== null) query.set('verdict', verdict);
  if (after !== null) query.set('after', String(after));
  else if (before !== null) query.set('before', String(before));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

export function reportsPath(filters: QueueFilters): string {
  return `/reports${filterQuery(filters)}`;
}

export function reportPath(id: string, filters: CitationFilters = { verdict: null, after: null, before: null }): string {
  return `/reports/${id}${citationQuery(filters)}`;
}

/** Why a mark has no work, or a work no document. Codes that are not listed are shown as they are. */
const reasons: Record<string, string> = {
  no_bibliography: 'the thesis has no list of references that could be read',
  author_not_in_bibliography: 'the list of references has no such author',
  year_not_in_bibliography: 'the list of references has the author, not this year',
  label_not_in_bibliography: 'the list of references has no such label',
  ambiguous: 'more than one work fits',
  note_not_understood: 'the footnote names no work that could be recognised',
  no_match: 'no document of the session is this work',
  document_erased: 'its document was erased',
  quote_not_found: 'the judge quoted what the source does not say',
  no_quote: 'the judge gave no passage',
};

export function reasonWords(code: string): string {
  return Object.hasOwn(reasons, code) ? reasons[code]! : code;
}

/** What a judge's label means, where it is not a model's name. */
export function judgeNote(label: string): string | null {
  return label === 'offline-lexical' ? 'compares words only; no language model has read anything' : null;
}
