import { afterEach, expect, test } from 'vitest';
import { PermanentError } from '../../server/lease/errors.js';
import { extractPdf } from '../../server/parse/extract.js';
import type { ExtractLimits } from '../../server/parse/extraction.js';
import * as pdfs from '../fixtures/pdfs.js';
import { rawPdf, textContent } from '../fixtures/raw-pdf.js';
import { parsersOf } from './parsers.js';

const usual: ExtractLimits = { maxSeconds: 60, maxMemoryMb: 512, maxPages: 50 };

afterEach(() => {
  expect(parsersOf()).toEqual([]);
});

function extract(bytes: Buffer | AsyncIterable<Uint8Array>, limits: Partial<ExtractLimits> = {}, onPage?: (done: number, total: number) => void) {
  return extractPdf(bytes, { signal: new AbortController().signal, limits: { ...usual, ...limits }, onPage });
}

async function codeOf(bytes: Buffer, limits: Partial<ExtractLimits> = {}): Promise<unknown> {
  const failure = await extract(bytes, limits).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PermanentError);
  return (failure as PermanentError).code;
}

test('German text keeps its umlauts, page by page, and says how far it is', async () => {
  const progress: unknown[] = [];
  const { pages, quality, failedPages } = await extract(await pdfs.textPdf(pdfs.germanText), {}, (done, total) => { progress.push([done, total]); });
  expect(pages.map((page) => page.text.replace(/\n/g, ' '))).toEqual(pdfs.germanText);
  expect({ quality, failedPages }).toEqual({ quality: 'good', failedPages: [] });
  expect(progress).toEqual([[1, 2], [2, 2]]);
});

test('a gap between paragraphs becomes a blank line, a line end becomes a line end', async () => {
  const { pages } = await extract(await pdfs.drawnPdf([(pdf) => {
    pdf.fontSize(11).text('First line of one.\nSecond line of one.\nThird line of one.').moveDown(1).text('First line of two.\nSecond line of two.');
  }]));
  expect(pages[0]?.text).toBe('First line of one.\nSecond line of one.\nThird line of one.\n\nFirst line of two.\nSecond line of two.');
});

test('a file may come in pieces, and what breaks its source breaks the extraction', async () => {
  const bytes = await pdfs.textPdf([pdfs.englishText]);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
  }
  expect((await extract(pieces())).quality).toBe('good');
  async function* broken() {
    yield bytes.subarray(0, 100);
    throw new Error('the lease is lost');
  }
  await expect(extract(broken())).rejects.toThrow('the lease is lost');
});

test('what is no PDF, needs a password, broke off or was scanned is refused by its own name', async () => {
  expect(await codeOf(Buffer.from('PK\u0003\u0004 this is a zip, not a PDF'))).toBe('not_a_pdf');
  expect(await codeOf(Buffer.from('%PDF-1.7\nand then nothing'))).toBe('damaged_pdf');
  expect(await codeOf(await pdfs.passwordPdf())).toBe('password_required');
  expect(await codeOf(await pdfs.truncatedPdf())).toBe('damaged_pdf');
  expect(await codeOf(await pdfs.scannedPdf(2))).toBe('no_text');
  expect(await codeOf(await pdfs.textPdf(['']))).toBe('no_text');
});

test('a blank page is no loss; a scanned page among text, or one that was never deflated, is', async () => {
  const withBlank = await extract(await pdfs.textPdf([pdfs.englishText, '', pdfs.englishText]));
  expect(withBlank.quality).toBe('good');
  const withScan = await extract(await pdfs.drawnPdf([(pdf) => { pdf.text(pdfs.englishText); }, pdfs.scan]));
  expect(withScan.quality).toBe('partial');
  expect((await extract(pdfs.partlyBrokenPdf('never deflated'))).quality).toBe('partial');
});

test('a page that breaks is named, the others are kept', async () => {
  const { quality, failedPages, pages } = await extract(pdfs.partlyBrokenPdf());
  expect({ quality, failedPages }).toEqual({ quality: 'partial', failedPages: [2] });
  expect(pages.map((page) => page.text)).toEqual([pdfs.englishText.slice(0, 80).trim(), '', pdfs.englishText.slice(80, 160).trim()]);
});

test('text whose letters are lost or stand for others is garbled, not good', async () => {
  expect((await extract(pdfs.privateUsePdf())).quality).toBe('garbled');
  expect((await extract(await pdfs.shiftedPdf())).quality).toBe('garbled');
});

test('no NUL, no lone surrogate and no control character leaves the parser', async () => {
  const { pages } = await extract(rawPdf([{ content: textContent(['A\\000B\\001C\\177D and E', 'plain text']) }]));
  expect(pages[0]?.text).not.toMatch(/[^\P{Cc}\n]/u);
  expect(pages[0]?.text.isWellFormed()).toBe(true);
  expect(pages[0]?.text).toContain('plain text');
});

test('a file with more pages than allowed is refused before any page is read', async () => {
  const read: number[] = [];
  const bytes = await pdfs.textPdf(Array.from({ length: 51 }, (_, i) => `Page ${i}`));
  await expect(extract(bytes, {}, (done) => { read.push(done); })).rejects.toMatchObject({ code: 'too_many_pages', message: expect.stringContaining('50 pages') });
  expect(read).toEqual([]);
});
