import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { pageWithin } from '../../../server/citations/judge/page-within.js';
import { inTransaction } from '../../../server/db/connection.js';
import { chunkDocument, documentText, pageStarts } from '../../../server/parse/chunks.js';
import { persistDocument } from '../../../server/sources/documents.js';
import { linkSource } from '../../../server/sources/session-sources.js';
import { readChunks, type SourceChunk } from '../../../server/sources/source-chunks.js';
import { testDatabase, type TestDatabase } from '../../support/database.js';
import { passagesOf } from './passages.js';

const paragraph = 'A sentence of some length stands here, and another one stands behind it in the same paragraph.';
/** Blank lines within pages and between them; an empty page; one that ends in a number and one that does not. */
const pages = Array.from({ length: 12 }, (_, i) => (i === 4 ? '' : `Head ${i}\n\n${Array.from({ length: 5 + (i % 3) }, () => paragraph).join('\n\n')}${i % 2 ? `\n${i}` : ''}`));
let database: TestDatabase;

beforeAll(async () => { database = await testDatabase(); });

async function stored(known: boolean): Promise<SourceChunk[]> {
  const chunks = [...chunkDocument(pages)];
  const sessionId = `s-${known}`;
  const { documentId } = await inTransaction(database.pool, (tx) => persistDocument(tx, {
    userId: 'anna', contentSha256: randomBytes(32), filename: 'paper.pdf', byteSize: 1, pageCount: pages.length, failedPages: [], letters: 1, quality: 'good', chunks,
    ...(known ? { pageStarts: pageStarts(pages) } : {}),
  }));
  await linkSource(database.pool, { userId: 'anna', sessionId, documentIds: [documentId], linkedBy: 'upload' });
  return readChunks(database.pool, { userId: 'anna', sessionId }, chunks.map(({ ordinal }) => ({ documentId, ordinal })));
}

test('every character of every stored passage is on the page it is said to be on', async () => {
  const text = documentText(pages);
  const starts = pageStarts(pages);
  const chunks = await stored(true);
  expect(chunks.some(({ pageFrom, pageTo }) => pageTo > pageFrom)).toBe(true);
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.body.length; at++) {
      if (/\s/.test(chunk.body.charAt(at))) continue;
      const page = pageWithin(chunk, at);
      const start = starts[page - 1]!;
      expect(text.slice(start, start + pages[page - 1]!.length).charAt(chunk.charFrom + at - start)).toBe(chunk.body.charAt(at));
    }
  }
});

test('a document from before the pages were kept still answers a page of the passage', async () => {
  for (const chunk of await stored(false)) {
    expect(chunk.pageStarts).toBeNull();
    for (const at of [0, chunk.body.length >> 1, chunk.body.length - 1]) {
      expect(pageWithin(chunk, at)).toBeGreaterThanOrEqual(chunk.pageFrom);
      expect(pageWithin(chunk, at)).toBeLessThanOrEqual(chunk.pageTo);
    }
  }
});

test('a passage on one page needs nothing else', () => {
  expect(pageWithin(passagesOf('Some text.')[0]!, 4)).toBe(3);
});
