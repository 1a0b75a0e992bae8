import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageOf, textFromChunks, textFromPages } from '../../../server/citations/claims/document-text.js';
import { chunkDocument, documentText } from '../../../server/parse/chunks.js';

const line = fc.array(fc.stringMatching(/^[\p{L}.,-]{1,9}$/u), { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));
const page = fc.array(fc.tuple(line, fc.constantFrom('\n', '\n\n')), { minLength: 1, maxLength: 40 }).map((lines) => lines.flat().slice(0, -1).join(''));

describe('a document from its stored chunks', () => {
  it('has every passage at its offset, and the pages where their starts are stored', () => {
    fc.assert(fc.property(fc.array(page, { minLength: 1, maxLength: 6 }), (pages) => {
      const whole = textFromPages(pages);
      expect(whole.text).toBe(documentText(pages));
      const chunks = [...chunkDocument(pages)];
      const again = textFromChunks(chunks, whole.pages.map(({ from }) => from));
      expect(again.text.replace(/\s/g, ' ')).toBe(whole.text.replace(/\s/g, ' '));
      expect(again.pages).toEqual(whole.pages);
      for (const chunk of chunks) expect(again.text.slice(chunk.charFrom, chunk.charTo)).toBe(chunk.body);
      expect(textFromChunks(chunks).pages).toHaveLength(pages.length);
    }), { numRuns: 60 });
  });

  it('guesses a page inside a chunk by its number, and says that it guessed', () => {
    const pages = ['First paragraph.\n\nSecond paragraph of the page.', '2 Running Head\n\nThird paragraph.'];
    const whole = textFromPages(pages);
    const again = textFromChunks([...chunkDocument(pages)]);
    expect(again.pagesExact).toBe(false);
    expect(again.pages).toEqual(whole.pages);
    expect(pageOf(again, whole.text.indexOf('Third'))).toBe(2);
  });
});
