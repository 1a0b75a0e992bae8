/** Where a page lies in the document's text: UTF-16 code units, `to` exclusive; `number` is 1-based. */
export interface PageRange {
  number: number;
  from: number;
  to: number;
}

/** The text that every stored offset refers to: pages joined by a blank line. */
export interface DocumentText {
  text: string;
  pages: PageRange[];
  /** False when a page's start had to be guessed from chunks that span pages. The text and its offsets are right even then. */
  pagesExact: boolean;
}

export interface StoredChunk {
  charFrom: number;
  charTo: number;
  pageFrom: number;
  pageTo: number;
  body: string;
}

const PAGE_SEPARATOR = '\n\n';

/** The document's text from its pages, as the parser sees it. */
export function textFromPages(pages: readonly string[]): DocumentText {
  let from = 0;
  const ranges = pages.map((page, i) => {
    const range = { number: i + 1, from, to: from + page.length };
    from = range.to + PAGE_SEPARATOR.length;
    return range;
  });
  return { text: pages.join(PAGE_SEPARATOR), pages: ranges, pagesExact: true };
}

/**
 * The document's text from its stored chunks, in order of their ordinals. Between chunks only white space was left out; it comes back with
 * the same length. `pageStarts` are the offsets of the pages' first characters, one a page; without them the starts of pages that lie
 * inside a chunk are guessed (`pagesExact` is then false).
 */
export function textFromChunks(chunks: readonly StoredChunk[], pageStarts?: readonly number[]): DocumentText {
  const text = joinChunks(chunks);
  if (pageStarts) return { text, pages: rangesFrom(pageStarts, text.length), pagesExact: true };
  const guessed = guessPageStarts(chunks, text);
  return { text, pages: rangesFrom(guessed.starts, text.length), pagesExact: guessed.exact };
}

/** The page that holds the character. */
export function pageOf(document: DocumentText, offset: number): number {
  let low = 0;
  let high = document.pages.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((document.pages[middle]?.from ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return document.pages[low]?.number ?? 1;
}

function joinChunks(chunks: readonly StoredChunk[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const chunk of chunks) {
    // Lines are trimmed and hold single spaces, so a longer gap is made of line ends; one character may be either.
    parts.push('\n'.repeat(Math.max(0, chunk.charFrom - at)), chunk.body);
    at = chunk.charTo;
  }
  return parts.join('');
}

function rangesFrom(starts: readonly number[], length: number): PageRange[] {
  return starts.map((from, i) => {
    const next = starts[i + 1];
    return { number: i + 1, from: Math.min(from, length), to: next === undefined ? length : Math.min(next - PAGE_SEPARATOR.length, length) };
  });
}

function guessPageStarts(chunks: readonly StoredChunk[], text: string): { starts: number[]; exact: boolean } {
  const starts = [0];
  let exact = true;
  for (const chunk of chunks) {
    while (starts.length < chunk.pageFrom) starts.push(chunk.charFrom);
    const inside = chunk.pageTo - starts.length;
    if (inside <= 0) continue;
    const breaks = blankLines(text, chunk);
    exact &&= breaks.length === inside;
    starts.push(...likeliest(breaks, inside, chunk));
  }
  return { starts, exact };
}

interface BlankLine {
  start: number;
  /** A line with a number stands beside it, as page numbers do. */
  numbered: boolean;
}

function blankLines(text: string, chunk: StoredChunk): BlankLine[] {
  const found: BlankLine[] = [];
  for (let at = text.indexOf(PAGE_SEPARATOR, chunk.charFrom); at !== -1 && at < chunk.charTo; at = text.indexOf(PAGE_SEPARATOR, at + 2)) {
    const above = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
    const below = text.slice(at + 2, (text.indexOf('\n', at + 2) + 1 || text.length + 1) - 1);
    found.push({ start: at + 2, numbered: /^\d{1,4}$/.test(above) || /^(?:\d{1,4}\b|.{0,80}\s\d{1,4}$)/.test(below) });
  }
  return found;
}

function likeliest(breaks: readonly BlankLine[], wanted: number, chunk: StoredChunk): number[] {
  const ranked = [...breaks].sort((a, b) => Number(b.numbered) - Number(a.numbered));
  const picked = ranked.slice(0, wanted).map((line) => line.start).sort((a, b) => a - b);
  while (picked.length < wanted) picked.push(chunk.charTo);
  return picked;
}
