import { randomUUID } from 'node:crypto';
import { rawPdf, swollen, textContent, type RawPage } from '../fixtures/raw-pdf.js';

/** A good file of `pages` pages, each of which costs the parser a part of a second of computing; no two files are the same. */
export function slowPdf(pages = 4): Buffer {
  return rawPdf(Array.from({ length: pages }, (_, at) => at).flatMap((at): RawPage[] => [
    { content: textContent([`Page ${at + 1} of a file that takes its time: ${randomUUID()}`]) },
    { ...swollen('q Q 1 0 0 1 0 0 cm ', 1) },
  ]));
}

/** A good file that is read at once. */
export function quickPdf(): Buffer {
  return rawPdf([{ content: textContent([`A file that is quickly read: ${randomUUID()}`, 'It has two lines of text.']) }]);
}
