import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunkDocument, documentText, MAX_CHARS, type Chunk } from '../../server/parse/chunks.js';
import { englishText, germanText } from '../fixtures/pdfs.js';

const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  fc.constantFrom('Varianz.', 'z. B.', 'et al.', 'S. 12', '😀', '𝔘', '\n\n', '\n', '…', ' '),
  fc.nat({ max: 3000 }).map((length) => 'x'.repeat(length)),
);
const page = fc.array(word, { maxLength: 300 }).map((words) => words.join(' '));
const pages = fc.array(page, { maxLength: 6 });

function pageAt(texts: string[], offset: number): number {
  let end = 0;
  return 1 + texts.findIndex((text) => (end += text.length + 2) > offset);
}

test('every passage is exactly the text between its offsets, and names the pages that it lies on', () => {
  fc.assert(fc.property(pages, (texts) => {
    const text = documentText(texts);
    for (const chunk of chunkDocument(texts)) {
      expect(chunk.body).toBe(text.slice(chunk.charFrom, chunk.charTo));
      expect([chunk.pageFrom, chunk.pageTo]).toEqual([pageAt(texts, chunk.charFrom), pageAt(texts, chunk.charTo - 1)]);
    }
  }));
});

test('passages come in order, hold everything but white space, and are neither empty nor too long', () => {
  fc.assert(fc.property(pages, (texts) => {
    const text = documentText(texts);
    let at = 0;
    for (const [i, chunk] of [...chunkDocument(texts)].entries()) {
      expect(chunk.ordinal).toBe(i);
      expect(text.slice(at, chunk.charFrom).trim()).toBe('');
      expect(chunk.body.trim()).toBe(chunk.body);
      expect(chunk.body.length).toBeGreaterThan(0);
      expect(chunk.body.length).toBeLessThanOrEqual(MAX_CHARS);
      at = chunk.charTo;
    }
    expect(text.slice(at).trim()).toBe('');
  }));
});

test('no passage cuts a character in two', () => {
  fc.assert(fc.property(fc.nat({ max: 3 }), fc.nat({ max: 4000 }), (offset, length) => {
    const chunks = [...chunkDocument(['x'.repeat(offset) + '😀'.repeat(length)])];
    expect(chunks.every((chunk) => chunk.body.isWellFormed())).toBe(true);
  }));
});

function passages(text: string): Chunk[] {
  return [...chunkDocument([text])];
}

test('a long text is cut after sentences, but not after abbreviations', () => {
  const sentence = `${germanText[1]} Das gilt nach Zeileis et al. (2004) auch hier, vgl. Abschnitt 2 und S. 12. `;
  for (const chunk of passages(sentence.repeat(40))) expect(chunk.body).toMatch(/(Stichproben fehlen Ergebnisse|verhält|S\. 12)\.$/);
});

test('a paragraph that ends in the last third of a passage ends the passage', () => {
  const paragraph = `${englishText} ${englishText.slice(0, 100)}.`;
  const [first] = passages(Array.from({ length: 9 }, () => paragraph).join('\n\n'));
  expect(first?.body.length).toBe(3 * paragraph.length + 4);
});

test('what is left after full passages is split evenly, without a scrap at the end', () => {
  for (let length = 1201; length < 4000; length += 57) {
    const chunks = passages('lorem ipsum dolor '.repeat(250).slice(0, length));
    expect(Math.min(...chunks.map((chunk) => chunk.body.length))).toBeGreaterThan(200);
  }
});
