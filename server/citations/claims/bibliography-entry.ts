import { authorsOf, type Authors } from './entry-authors.js';

/** What an entry says of itself. */
export interface EntryParts extends Authors {
  year: number | null;
  /** "b" of 2006b, else ''. */
  yearSuffix: string;
  title: string | null;
}

interface YearFound {
  from: number;
  to: number;
  year: number | null;
  suffix: string;
  /** It stands where authors end, not at the end of the entry. */
  early: boolean;
}

const NO_YEAR = /\(?(?:n\. ?d\.|o\. ?J\.|in press|im Druck|forthcoming|im Erscheinen)\)?/u;

/** Reads authors, year and title of one entry (label already taken off). What it cannot find is null or empty. */
export function readEntry(text: string): EntryParts {
  const year = findYear(text);
  const early = year !== undefined && isAuthorYear(text, year);
  const head = early ? text.slice(0, year.from) : headBeforeTitle(text);
  const authors = authorsOf(head);
  const rest = text.slice(early ? year.to : head.length);
  return { ...authors, year: year?.year ?? null, yearSuffix: year?.suffix ?? '', title: titleOf(rest) };
}

/** In brackets behind the authors, or else the last one that is no page, address or volume. */
function findYear(text: string): YearFound | undefined {
  const bracketed = /\((?<year>(?:1[5-9]|20)\d\d)(?<suffix>[a-z])?(?:[,/][^)]{0,40})?\)/u.exec(text);
  if (bracketed) return found(bracketed, true);
  const none = NO_YEAR.exec(text);
  const plain = [...withoutAddresses(text).matchAll(/(?<![\d./–-]|S\. |pp?\. )(?<year>(?:1[5-9]|20)\d\d)(?<suffix>[a-z])?(?![\d/]|[–-]\d)/gu)];
  const early = plain.find((match) => match.index < 120 && /[.,]\s?$/.test(text.slice(0, match.index)) && /^\s?[.:]/.test(text.slice(match.index + match[0].length)));
  const last = early ?? plain.at(-1);
  if (last) return found(last, early !== undefined);
  return none ? { from: none.index, to: none.index + none[0].length, year: null, suffix: '', early: true } : undefined;
}

function found(match: RegExpExecArray, early: boolean): YearFound {
  return { from: match.index, to: match.index + match[0].length, year: Number(match.groups?.year), suffix: match.groups?.suffix ?? '', early };
}

/** Same length, so that offsets stay. */
function withoutAddresses(text: string): string {
  return text.replace(/(?:https?:|doi:|URL\s|www\.)\S+(?:\s?\/\S+)?|10\.\d{4,}\S*/giu, (address) => ' '.repeat(address.length));
}

/** Whether the year closes the authors, instead of the entry: no title stands before it. */
function isAuthorYear(text: string, year: YearFound): boolean {
  const before = text.slice(0, year.from).trim();
  return year.early && before.length < 400 && !/[“"„«]/.test(before) && !/[^\s.]{4,}(?<!Hrsg|Hg|[Ee]ds?)\.\s\p{Lu}\p{L}{3,}/u.test(before) && !/:\s/.test(before);
}

/** The authors of "Müller, Hans: Titel", "A. Zeileis. Title", "A. Zeileis, “Title”". */
function headBeforeTitle(text: string): string {
  const quote = text.search(/[“"„«]/);
  const colon = text.search(/:\s/);
  const stop = text.search(/^\p{Lu}\./u.test(text) ? STOP_AFTER_NAME : STOP_AFTER_INITIAL);
  const ends = [quote, colon, stop].filter((at) => at > 0 && at < 300);
  return ends.length > 0 ? text.slice(0, Math.min(...ends)) : '';
}

/** The full stop behind "A. Zeileis" or, where initials stand behind names, behind "Zeileis A". */
const STOP_AFTER_NAME = /(?<=\p{L}{2}|\))(?<!\b(?:Jr|Sr|St|Dr|[Ee]ds?|Hrsg|Hg))\.\s(?=["“„]?[\p{Lu}\d])/u;
const STOP_AFTER_INITIAL = /(?<=\p{L}{2}|\)|\s\p{Lu})(?<!\b(?:Jr|Sr|St|Dr|[Ee]ds?|Hrsg|Hg))\.\s(?=\p{Lu}\p{L}+[\s:-]|\p{Lu}\s|\d)/u;
const ABBREVIATION = /\b(?:vs|St|Dr|Prof|Bd|Aufl|Hrsg|Nr|Vol|No|e\.g|i\.e|z\. ?B|bzw|u\. ?a|d\. ?h)\.$/u;

function titleOf(rest: string): string | null {
  const quoted = /^[\s.,:;)]*[“"„«](?<title>[^”"“»]{3,400}?)[.,?!]?[”"“»]/u.exec(rest);
  if (quoted) return clean(quoted.groups?.title ?? '');
  const plain = rest.replace(/^[\s.,:;)]+/u, '');
  for (const match of plain.matchAll(/[.?!](?=\s|$)|,\s(?=In:)/gu)) {
    const title = plain.slice(0, match.index + (/[?!]/.test(match[0]) ? 1 : 0));
    if (!ABBREVIATION.test(`${title}.`) && title.length > 3) return clean(title);
  }
  return plain.length > 3 ? clean(plain) : null;
}

function clean(title: string): string {
  return title.replace(/\s+/g, ' ').replace(/[.,]$/, '').trim();
}
