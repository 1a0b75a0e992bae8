import type { Line } from './lines.js';

/** Lines at the top and at the bottom of a page among which running heads are looked for. */
const EDGE_LINES = 2;
/** As often must a line come back, page numbers aside, to be a running head. */
const MIN_PAGES = 3;
/** With a page number in it, twice is enough: short texts have running heads too. */
const MIN_NUMBERED_PAGES = 2;
const MAX_LENGTH = 120;

/** Splits lines into the document's own words and what is printed on every page: running heads, feet, page numbers. */
export function withoutFurniture(lines: readonly Line[]): Line[] {
  const edges = edgesOf(lines);
  const counts = new Map<string, Set<number>>();
  for (const { line, key } of edges) {
    const pages = counts.get(key) ?? new Set();
    counts.set(key, pages.add(line.page));
  }
  const furniture = new Set(edges.filter(({ line, key }) => isFurniture(line, counts.get(key)?.size ?? 0)).map(({ line }) => line));
  return lines.filter((line) => !furniture.has(line));
}

function edgesOf(lines: readonly Line[]): { line: Line; key: string }[] {
  const pages = new Map<number, Line[]>();
  for (const line of lines) {
    const page = pages.get(line.page) ?? [];
    page.push(line);
    pages.set(line.page, page);
  }
  return [...pages.values()].flatMap((page) => [
    ...page.slice(0, EDGE_LINES).map((line) => ({ line, key: `top ${shape(line)}` })),
    ...page.slice(-EDGE_LINES).map((line) => ({ line, key: `bottom ${shape(line)}` })),
  ]);
}

function isFurniture(line: Line, pages: number): boolean {
  if (line.text.length > MAX_LENGTH) return false;
  if (/^[-–—\s]*(?:\d{1,4}|[ivxlc]{1,6})[-–—\s]*$/i.test(line.text)) return true;
  return /\p{L}/u.test(line.text) && pages >= (/^\d|\d$/.test(line.text) ? MIN_NUMBERED_PAGES : MIN_PAGES);
}

/** A page number at either end is written as its distance from the page: it differs from page to page, its distance does not. */
function shape({ text, page }: Line): string {
  return text.replace(/^\d{1,4}(?=\s)|(?<=\s)\d{1,4}$/g, (number) => `#${Number(number) - page}`).replace(/\s+/g, ' ');
}
