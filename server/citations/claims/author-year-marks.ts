import type { FoundMark, Lookalike } from './found-mark.js';
import { LOCATOR } from './locator.js';
import { AND, ET_AL, FAMILY } from './names.js';

const YEAR = '(?:1[5-9]|20)\\d\\d[a-z]?';
/** One or several years of the same authors: "2004", "1987, 1994", "2004a, b". Ranges and dates are none. */
const YEARS = new RegExp(`(?<![\\d./\\p{L}–-])${YEAR}(?:(?:\\s?[,;/&]\\s?|\\s(?:and|und)\\s)(?:${YEAR}(?![\\d–-])|[a-z](?=[,;)\\]])))*(?![\\d\\p{L}%]|[–-]\\d|\\.\\d)`, 'gu');
const NAMES = new RegExp(`(?<![\\p{L}\\p{N}.’'-]|à\\s)(?<names>${FAMILY}(?:,\\s${FAMILY}){0,9}(?:${AND}${FAMILY})?)(?:,?\\s[JS]r\\.)?(?<etAl>${ET_AL})?(?:['’]s?)?$`, 'u');
const PLACE_BEHIND = new RegExp(`^\\s?[,:]\\s?(?<locator>${LOCATOR})`, 'u');
/** Names with their titles fit in here; looking further back is slow and finds other people. */
const LOOK_BACK = 240;

/** Names that are capitalised like authors and followed by years without being any. */
const NO_NAME = new RegExp(`^(?:${[
  'January|February|March|April|May|June|July|August|September|October|November|December|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember',
  'Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Mär|Okt|Dez|Spring|Summer|Autumn|Winter|Frühjahr|Sommer|Herbst|Jahr|Jahre|Jahren|Year',
  'In|Since|Until|From|By|Between|After|Before|Around|During|Im|Am|Seit|Bis|Ab|Um|Vor|Nach|Zwischen|Stand|Version|Release|The|Die|Der|Das',
  'Figures?|Tables?|Equations?|Sections?|Chapters?|Appendix|Experiments?|Abbildung(?:en)?|Tabellen?|Gleichung(?:en)?|Abschnitt|Kapitel|Anhang|Formel|Seite|Page|Theorem|Satz|Lemma',
  'Windows|Office|Agenda|Horizon|Horizont|World|Copyright|Issue|Heft|Band|Nr|No|Vol',
].join('|')})$`, 'u');

/** "the Act (2004)", "die Erhebung (2004)": a noun, unless somebody of that name is known. */
const DETERMINER = /(?<!\p{L})(?:the|a|an|this|that|our|der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines|dieser?|dieses|diesem|diesen|unsere?|im|am|zum|zur|vom|beim)\s$/iu;

interface AuthorYearOptions {
  /** Whole names of organisations in the list of references: "R Core Team". */
  organisations: readonly string[];
  /** All of the text counts as if it stood in brackets, as in a footnote. */
  cited?: boolean;
}

/** Finds author–year marks: "(vgl. Müller 2004, S. 12; Koch 2006)", "Zeileis (2004) shows", and bare "Müller 2004" for known works. */
export function findAuthorYearMarks(text: string, options: AuthorYearOptions): { marks: FoundMark[]; lookalikes: Lookalike[] } {
  const marks: FoundMark[] = [];
  const lookalikes: Lookalike[] = [];
  let end = 0;
  for (const match of text.matchAll(YEARS)) {
    if (/(?:\bS|\bpp?|\bNr|\bNo|§)\.?\s$/u.test(text.slice(Math.max(0, match.index - 5), match.index))) continue;
    const years = { from: match.index, to: match.index + match[0].length, list: yearsIn(match[0]) };
    const mark = markAt(text, years, Math.max(end, years.from - LOOK_BACK), options);
    if (mark !== undefined) marks.push(...mark);
    else if (text.charAt(years.from - 1) === '(' && text.charAt(years.to) === ')') lookalikes.push({ reason: 'no_author', from: years.from - 1, to: years.to + 1 });
    end = years.to;
  }
  return { marks, lookalikes };
}

interface Years {
  from: number;
  to: number;
  list: { from: number; to: number; year: number; suffix: string }[];
}

function yearsIn(list: string): Years['list'] {
  let year = 0;
  return [...list.matchAll(/(?<year>\d{4})?(?<suffix>\b[a-z]\b|(?<=\d)[a-z])?/gu)].flatMap((match) => {
    if (match[0] === '') return [];
    year = match.groups?.year ? Number(match.groups.year) : year;
    return [{ from: match.index, to: match.index + match[0].length, year, suffix: match.groups?.suffix ?? '' }];
  });
}

function markAt(text: string, years: Years, floor: number, options: AuthorYearOptions): FoundMark[] | undefined {
  const before = text.slice(floor, years.from);
  const opened = /\s?[([]$/u.exec(before);
  const gap = opened ?? /,?\s$/u.exec(before);
  if (!gap) return undefined;
  const head = before.slice(0, gap.index);
  const names = namesBefore(head, options.organisations);
  if (!names) return undefined;
  const place = PLACE_BEHIND.exec(text.slice(years.to, years.to + 60));
  const close = opened ? /^.{0,60}?[)\]]/u.exec(text.slice(years.to, years.to + 61)) : null;
  const end = close && (place === null || close[0].length >= place[0].length) ? years.to + close[0].length : years.to + (place?.[0].length ?? 0);
  // "seq(2000, 2002)" is a call, "Koch(2004)" needs a known Koch.
  const call = opened !== null && !/^\s/u.test(opened[0]);
  const noun = names.list.length === 1 && DETERMINER.test(head.slice(0, names.starts[0]));
  const bare = call || noun || (!opened && !options.cited && !insideBrackets(text, years.from));
  return years.list.map((year, i): FoundMark => ({
    kind: 'author_year',
    from: i === 0 ? floor + (names.starts[0] ?? 0) : years.from + year.from,
    to: i === years.list.length - 1 ? end : years.from + year.to,
    cites: { by: 'author_year', names: names.list, starts: names.starts.map((start) => floor + start), etAl: names.etAl, year: year.year, suffix: year.suffix, bare },
    locator: i === years.list.length - 1 ? place?.groups?.locator ?? null : null,
  }));
}

interface Names {
  list: string[];
  /** Where each begins in the text given. */
  starts: number[];
  etAl: boolean;
}

const BETWEEN = new RegExp(`${AND}|,\\s`, 'gu');

function namesBefore(head: string, organisations: readonly string[]): Names | undefined {
  const organisation = organisations.find((name) => head.endsWith(name) && !/[\p{L}\p{N}]/u.test(head.at(-name.length - 1) ?? ' '));
  if (organisation !== undefined) return { list: [organisation], starts: [head.length - organisation.length], etAl: false };
  const match = NAMES.exec(head);
  if (!match?.groups?.names) return undefined;
  const found = split(match.groups.names).map(({ name, at }) => ({ name, at: match.index + at }));
  if (NO_NAME.test(found.at(-1)?.name ?? '')) return undefined;
  const names = found.filter(({ name }) => !NO_NAME.test(name));
  return { list: names.map(({ name }) => name), starts: names.map(({ at }) => at), etAl: match.groups.etAl !== undefined };
}

function split(names: string): { name: string; at: number }[] {
  const parts: { name: string; at: number }[] = [];
  let at = 0;
  for (const separator of [...names.matchAll(BETWEEN), { index: names.length, 0: '' }]) {
    parts.push({ name: names.slice(at, separator.index), at });
    at = separator.index + separator[0].length;
  }
  return parts;
}

function insideBrackets(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 600), at).split('\n').at(-1) ?? '';
  const depth = (open: string, close: string) => before.split(open).length - before.split(close).length;
  return depth('(', ')') > 0 || depth('[', ']') > 0;
}
