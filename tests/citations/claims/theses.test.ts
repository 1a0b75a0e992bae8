import { describe, expect, it } from 'vitest';
import { textFromPages } from '../../../server/citations/claims/document-text.js';
import { extractClaims } from '../../../server/citations/claims/extract-claims.js';
import { matchDocuments } from '../../../server/citations/claims/match-documents.js';
import { extractPdf } from '../../../server/parse/extract.js';
import type { Style } from '../../fixtures/theses/citing.js';
import { sourcePdf, thesisPdf } from '../../fixtures/theses/thesis-pdf.js';
import { writeThesis } from '../../fixtures/theses/thesis-text.js';
import type { Language } from '../../fixtures/theses/vocabulary.js';

const pagesOf = async (pdf: Buffer) => (await extractPdf(pdf, { signal: new AbortController().signal, limits: { maxSeconds: 60, maxMemoryMb: 512, maxPages: 100 } })).pages.map((page) => page.text);
const styles: Style[] = ['author_year', 'numeric', 'alpha', 'footnotes'];
const cases = (['de', 'en'] as Language[]).flatMap((language) => styles.map((style) => ({ language, style })));

describe('a generated thesis', () => {
  it.each(cases)('gives every planted citation, and no other: $language, $style', async ({ language, style }) => {
    const thesis = writeThesis({ language, style, seed: 11 });
    const result = extractClaims(textFromPages(await pagesOf(await thesisPdf(thesis))));
    const found = result.claims.map((claim) => `${withoutNote(claim.reading)} → ${claim.entry === null ? claim.reason : result.bibliography[claim.entry]!.title}`);
    expect(found.sort()).toEqual(thesis.key.map(({ sentence, work }) => `${sentence} → ${work.title}`).sort());
    expect(result.summary.marks).toMatchObject({ seen: thesis.key.length, unresolved: 0 });
    expect(result.language).toBe(language);
  });

  it('finds exactly the sources that were uploaded', async () => {
    const thesis = writeThesis({ language: 'de', style: 'author_year', seed: 3 });
    const { bibliography } = extractClaims(textFromPages(await pagesOf(await thesisPdf(thesis))));
    const uploaded = thesis.works.filter((work) => !work.missing).slice(0, 4);
    const documents = await Promise.all(uploaded.map(async (work) => ({ id: work.title, filename: `${work.id}.pdf`, head: (await pagesOf(await sourcePdf(work)))[0]! })));
    const matched = matchDocuments(bibliography, documents).flatMap(({ documentId, entry }) => documentId === null ? [] : [[bibliography[entry]!.title, documentId]]);
    expect(matched.sort()).toEqual(uploaded.map((work) => [work.title, work.title]).sort());
  });

  it('is the same for the same seed', async () => {
    const file = () => thesisPdf(writeThesis({ language: 'en', style: 'numeric', seed: 5 }));
    expect((await file()).equals(await file())).toBe(true);
  });
});

function withoutNote(reading: string): string {
  return reading.replace(/(?<=[^\d\s])(?<!Prozent |percent )\d{1,3}(?=\.?$)/u, '');
}
