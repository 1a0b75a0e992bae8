import { cleanText } from '../db/text.js';

/** What we use of a pdf.js text item. `transform` is the glyph matrix: [a b c d x y]. */
export interface TextItem {
  str: string;
  hasEOL: boolean;
  height: number;
  transform: number[];
}

interface Line {
  text: string;
  /** Baseline in points, upwards; undefined for rotated text. */
  baseline: number | undefined;
}

/** A gap this much larger than the page's usual line gap starts a paragraph. */
const PARAGRAPH_GAP = 1.35;

/**
 * The text of one page: lines as pdf.js found them, a blank line where the vertical gap says that a paragraph starts. Hyphens at line
 * ends stay: the result is stored as it is, and every offset refers to it.
 */
export function layOut(items: TextItem[]): string {
  const lines = toLines(items);
  const usual = median(lines.flatMap((line, i) => gapBefore(lines, i) ?? []));
  return lines.map((line, i) => separator(lines, i, usual) + line.text).join('');
}

function toLines(items: TextItem[]): Line[] {
  const lines: Line[] = [];
  let text = '';
  let baseline: number | undefined;
  for (const item of items) {
    if (text.trim() === '' && item.str.trim() !== '') baseline = uprightBaseline(item);
    text += item.str;
    if (item.hasEOL) {
      push(lines, text, baseline);
      text = '';
    }
  }
  push(lines, text, baseline);
  return lines;
}

function push(lines: Line[], raw: string, baseline: number | undefined): void {
  const text = visibleText(raw);
  if (text !== '') lines.push({ text, baseline });
}

function uprightBaseline(item: TextItem): number | undefined {
  const [, b, , , , y] = item.transform;
  return b !== undefined && Math.abs(b) < 0.01 ? y : undefined;
}

/** Control characters are glyphs whose meaning is lost, so they become U+FFFD; white space becomes a plain space. */
function visibleText(raw: string): string {
  return cleanText(raw)
    .replace(/[\s\u200b\ufeff]+/g, ' ')
    .replace(/[\u0001-\u001f\u007f-\u009f]/g, '\ufffd')
    .trim();
}

/** Points from the baseline above; undefined for the first line, rotated text, and a jump upwards (the next column). */
function gapBefore(lines: Line[], i: number): number | undefined {
  const above = lines[i - 1]?.baseline;
  const own = lines[i]?.baseline;
  if (above === undefined || own === undefined || above - own < 1) return undefined;
  return above - own;
}

function separator(lines: Line[], i: number, usual: number): string {
  if (i === 0) return '';
  const gap = gapBefore(lines, i);
  return gap !== undefined && gap > usual * PARAGRAPH_GAP ? '\n\n' : '\n';
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Infinity;
}
