/** One passage of a document. Offsets are UTF-16 code units in the document's text, `charTo` exclusive; pages are 1-based. */
export interface Chunk {
  ordinal: number;
  pageFrom: number;
  pageTo: number;
  charFrom: number;
  charTo: number;
  /** Always `text.slice(charFrom, charTo)`. */
  body: string;
}

/** A passage is long enough to be understood alone and short enough for one embedding. */
const MIN_CHARS = 800;
export const MAX_CHARS = 1200;
const PAGE_SEPARATOR = '\n\n';

/** What every stored offset refers to: the pages' texts, joined by a blank line; an unreadable page counts as empty. */
export function documentText(pages: readonly string[]): string {
  return pages.join(PAGE_SEPARATOR);
}

/** Where each page begins in it. A page that is empty begins where the next text would. */
export function pageStarts(pages: readonly string[]): number[] {
  let at = 0;
  return pages.map((page) => {
    const start = at;
    at += page.length + PAGE_SEPARATOR.length;
    return start;
  });
}

/**
 * Cuts a document into passages that together hold everything but white space between them, in order, without overlap. Cuts at a
 * paragraph if one ends in the last third of a passage, else after a sentence, a line, a word; never inside a surrogate pair.
 */
export function* chunkDocument(pages: readonly string[]): Generator<Chunk> {
  const text = documentText(pages);
  const pageOf = pageFinder(pages);
  let from = skipSpace(text, 0);
  for (let ordinal = 0; from < text.length; ordinal++) {
    const to = trimEnd(text, from, cutAfter(text, from));
    yield { ordinal, charFrom: from, charTo: to, pageFrom: pageOf(from), pageTo: pageOf(to - 1), body: text.slice(from, to) };
    from = skipSpace(text, to);
  }
}

function cutAfter(text: string, from: number): number {
  const left = text.length - from;
  if (left <= MAX_CHARS) return text.length;
  // Two even passages instead of a full one and a scrap.
  const most = left < MAX_CHARS + MIN_CHARS ? Math.ceil(left / 2) + 200 : MAX_CHARS;
  const least = Math.min(MIN_CHARS, most - 400);
  const window = text.slice(from, from + most);
  return from + (lastParagraph(window, least) ?? lastSentence(window, least) ?? lastSpace(window, least) ?? wholeCharacter(window));
}

function lastParagraph(window: string, least: number): number | undefined {
  return above(window.lastIndexOf('\n\n'), least);
}

/** Ends of sentences: a full stop, then a capital. "z. B.", "et al.", "S. 12" and initials end none. */
const SENTENCE_END = /(?<word>\S*)[.!?…]["'”’»)\]]*(?=\s+["'“„«([]*\p{Lu})/gu;
const ABBREVIATION = /^\W*(?:\p{L}|\p{L}\.\p{L}|al|vgl|bzw|ca|cf|resp|dr|prof|fig|abb|tab|nr|no|vol|ed|eds|hrsg|eq|sec|ch|pp|ff|usw|etc|st|mr|mrs|ms)$/iu;

function lastSentence(window: string, least: number): number | undefined {
  let last: number | undefined;
  for (const match of window.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    if (end >= least && !ABBREVIATION.test(match.groups?.word ?? '')) last = end;
  }
  return last;
}

function lastSpace(window: string, least: number): number | undefined {
  return above(window.lastIndexOf('\n'), least) ?? above(window.search(/\s\S*$/), least);
}

function above(index: number, least: number): number | undefined {
  return index >= least ? index : undefined;
}

function wholeCharacter(window: string): number {
  return /[\ud800-\udbff]$/.test(window) ? window.length - 1 : window.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text, at)) at++;
  return at;
}

function trimEnd(text: string, from: number, to: number): number {
  let end = to;
  while (end > from + 1 && isSpace(text, end - 1)) end--;
  return end;
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at));
}

/** For offsets that only grow: the page that holds the character. */
function pageFinder(pages: readonly string[]): (offset: number) => number {
  let page = 0;
  let end = pages[0]?.length ?? 0;
  return (offset) => {
    while (offset >= end && page < pages.length - 1) {
      page++;
      end += PAGE_SEPARATOR.length + (pages[page]?.length ?? 0);
    }
    return page + 1;
  };
}
