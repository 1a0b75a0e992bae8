/** A range of the body: UTF-16 code units, `to` exclusive. */
export interface Span {
  from: number;
  to: number;
}

const HYPHEN = /[-\u2010-\u2015\u2212]/;
const INVISIBLE = /[\s\u00ad\u200b-\u200d\u2060\ufeff"'`´‘’‚‛“”„‟‹›«»]/u;
const WORD = /[\p{L}\p{N}]/u;
const ELLIPSIS = /\s*(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…)\s*/u;
/** Around a quote; a minus before a number stays. */
const EDGES = /^(?:[\s.,;:]|[-\u2010-\u2015\u2212]\s)+|[\s.,;:\-\u2010-\u2015\u2212]+$/gu;
/** Letters and digits that a quote must have, and each piece of one between ellipses: shorter ones are found anywhere. */
const LEAST = 15;
const LEAST_PIECE = 8;

/**
 * Where the body says what the quote says; null when it does not. White space, line-end hyphens, ligatures, quotation marks and capitals may
 * differ; words may not, and none may be cut: "supported" is not found in "unsupported". A quote with ellipses gives one span a piece,
 * in order.
 */
export function locateQuote(body: string, quote: string): Span[] | null {
  const pieces = quote.split(ELLIPSIS).map((piece) => fold(piece.replace(EDGES, '')).text).filter((piece) => piece !== '');
  if (pieces.join('').length < LEAST || pieces.some((piece) => piece.length < LEAST_PIECE)) return null;
  const folded = fold(body);
  const spans: Span[] = [];
  let at = 0;
  for (const piece of pieces) {
    const start = find(body, folded, piece, at);
    if (start === -1) return null;
    at = start + piece.length;
    spans.push({ from: folded.from[start]!, to: folded.to[at - 1]! });
  }
  return spans;
}

/** A text without what may differ, and where each of its units comes from. */
interface Folded {
  text: string;
  from: number[];
  to: number[];
}

function fold(source: string): Folded {
  const units: string[] = [];
  const from: number[] = [];
  const to: number[] = [];
  for (const { 0: cluster, index } of source.matchAll(/.\p{M}*/gsu)) {
    for (const unit of folding(source, cluster, index)) {
      units.push(unit);
      from.push(index);
      to.push(index + cluster.length);
    }
  }
  return { text: units.join(''), from, to };
}

/** UTF-16 units that stand for the character. */
function folding(source: string, cluster: string, index: number): string[] {
  if (INVISIBLE.test(cluster.charAt(0))) return [];
  if (HYPHEN.test(cluster)) return betweenLetters(source, index) ? [] : ['-'];
  return cluster.normalize('NFKC').toLowerCase().split('').filter((unit) => !/\s/.test(unit));
}

function betweenLetters(source: string, index: number): boolean {
  return /\p{L}\p{M}*\s*$/u.test(source.slice(Math.max(0, index - 8), index)) && /^\s*\p{L}/u.test(source.slice(index + 1, index + 9));
}

function find(body: string, folded: Folded, piece: string, after: number): number {
  for (let at = folded.text.indexOf(piece, after); at !== -1; at = folded.text.indexOf(piece, at + 1)) {
    if (isEdge(body, folded, at) && isEdge(body, folded, at + piece.length)) return at;
  }
  return -1;
}

/** Whether no word goes on from the unit before to this one. */
function isEdge(body: string, { text, from, to }: Folded, at: number): boolean {
  if (at === 0 || at === text.length || !WORD.test(text.charAt(at - 1)) || !WORD.test(text.charAt(at))) return from[at] !== from[at - 1];
  const gap = body.slice(to[at - 1], from[at]);
  const hyphenated = HYPHEN.test(gap.charAt(0)) && /^.\s*\n/u.test(gap);
  return !hyphenated && /[\s"“”„‟‹›«»]/u.test(gap);
}
