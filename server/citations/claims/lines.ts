import type { DocumentText, PageRange } from './document-text.js';

/** One line of a page. Offsets are those of the document's text; `to` excludes the line end. */
export interface Line {
  from: number;
  to: number;
  text: string;
  /** 1-based. */
  page: number;
  /** What separates it from the line above. */
  after: 'line' | 'paragraph' | 'page';
}

/** All lines that hold something, in order. */
export function linesOf(document: DocumentText): Line[] {
  return document.pages.flatMap((page) => linesOfPage(document.text, page));
}

function linesOfPage(text: string, page: PageRange): Line[] {
  const lines: Line[] = [];
  let blank = false;
  for (let from = page.from; from < page.to;) {
    const end = text.indexOf('\n', from);
    const to = end === -1 || end > page.to ? page.to : end;
    if (to > from) lines.push({ from, to, text: text.slice(from, to), page: page.number, after: lines.length === 0 ? 'page' : blank ? 'paragraph' : 'line' });
    blank = to === from;
    from = to + 1;
  }
  return lines;
}
