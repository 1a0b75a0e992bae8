import type { Line } from './lines.js';

/**
 * Lines as one reads them: words put together again across line ends, single spaces, `\n` where a paragraph ends. Each character knows
 * where it stands in the document.
 */
export class Flow {
  constructor(readonly text: string, private readonly offsets: Int32Array) {}

  /** Range in the document for a range of the flow; both in UTF-16 code units, `to` exclusive. */
  range(from: number, to: number): { charFrom: number; charTo: number } {
    return { charFrom: this.offset(from), charTo: this.offset(to - 1) + 1 };
  }

  offset(at: number): number {
    return this.offsets[Math.max(0, Math.min(at, this.offsets.length - 1))] ?? 0;
  }
}

type Seam = 'word' | 'hyphen' | 'space' | 'paragraph';

/** `words` decide whether a hyphen at a line's end belongs to the word: see `wordsOf`. */
export function flowOf(lines: readonly Line[], words: ReadonlySet<string>): Flow {
  const size = lines.reduce((sum, line) => sum + line.text.length + 1, 0);
  const offsets = new Int32Array(size);
  const parts: string[] = [];
  let length = 0;
  const push = (text: string, offset: number) => {
    for (let i = 0; i < text.length; i++) offsets[length++] = offset + i;
    parts.push(text);
  };
  lines.forEach((line, i) => {
    const next = lines[i + 1];
    const seam = next ? seamBetween(line, next, words) : 'paragraph';
    push(seam === 'word' ? line.text.slice(0, -1) : line.text, line.from);
    if (next && seam === 'space') push(' ', line.to);
    if (next && seam === 'paragraph') push('\n', line.to);
  });
  return new Flow(parts.join(''), offsets.subarray(0, length));
}

/** All words that stand within a line, those with hyphens as a whole; folded. */
export function wordsOf(lines: readonly Line[]): Set<string> {
  const words = new Set<string>();
  for (const { text } of lines) {
    for (const [word] of text.matchAll(/\p{L}+(?:[-‐]\p{L}+)*/gu)) words.add(word.toLowerCase());
  }
  return words;
}

/** A longer word is none, and looking for its start is quadratic. */
const MAX_WORD = 120;
const TERMINAL = /[.!?:][)\]"'”“’»«]*\d{0,3}$/u;

const HEADING = /^(?:\d{1,2}\.)*\d{1,2}\.?\s\p{Lu}.{0,70}$/u;

/** With its dot: "27 Prozent" may go on from the page before. */
const DOTTED_HEADING = /^(?:\d{1,2}\.){1,4}\d{0,2}\s\p{Lu}.{0,70}[^.!?]$/u;

function seamBetween(line: Line, next: Line, words: ReadonlySet<string>): Seam {
  if (!continues(line, next)) return 'paragraph';
  const broken = /(?<head>(?:\p{L}+[-‐])*\p{L}+)[-‐\u00ad]$/u.exec(line.text.slice(-MAX_WORD));
  if (!broken) return /\d[–/-]$/.test(line.text) && /^\d/.test(next.text) ? 'hyphen' : 'space';
  const tail = /^\p{L}+/u.exec(next.text)?.[0];
  if (tail === undefined) return 'space';
  if (/^(?:und|oder|bzw|and|or|sowie|bis|to)$/.test(tail)) return 'space';
  if (line.text.endsWith('\u00ad')) return 'word';
  if (/^\p{Lu}/u.test(tail)) return 'hyphen';
  return ownHyphen(broken.groups?.head ?? '', tail, words) ? 'hyphen' : 'word';
}

/** "cross-" + "section": the hyphen stays if the document writes the word so elsewhere, and never without it. */
function ownHyphen(head: string, tail: string, words: ReadonlySet<string>): boolean {
  const joined = (head + tail).toLowerCase();
  return words.has(`${head}-${tail}`.toLowerCase()) && !words.has(joined);
}

function continues(line: Line, next: Line): boolean {
  const turned = next.page !== line.page;
  if (next.after === 'line' && !turned) return true;
  if (hasOpenBracket(line.text)) return true;
  if (turned && /^[([][^()[\]]{0,120}\d[a-z]?[)\]]/.test(next.text)) return true; // "… robust." (Koch 2004)
  if (TERMINAL.test(line.text.slice(-MAX_WORD)) || HEADING.test(line.text)) return false;
  return /^["'“„(]?\p{Ll}/u.test(next.text) || (turned && line.text.length > 40 && !DOTTED_HEADING.test(next.text));
}

function hasOpenBracket(text: string): boolean {
  return text.lastIndexOf('(') > text.lastIndexOf(')') || text.lastIndexOf('[') > text.lastIndexOf(']');
}
