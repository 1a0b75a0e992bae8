import { describe, expect, it } from 'vitest';
import type { BibliographyEntry } from '../../../server/citations/claims/bibliography.js';
import { readEntry } from '../../../server/citations/claims/bibliography-entry.js';
import { matchDocuments, type CandidateDocument } from '../../../server/citations/claims/match-documents.js';

const entry = (text: string, index = 0): BibliographyEntry => ({ index, label: null, text, page: 1, charFrom: 0, charTo: text.length, ...readEntry(text) });
const zeileis = entry('Zeileis A (2006b). “Object-Oriented Computation of Sandwich Estimators.” Journal of Statistical Software, 16(9), 1–16.');
const paper: CandidateDocument = { id: 'd1', filename: 'v16i09.pdf', head: 'Object-Oriented Computation of Sandwich\n\nEstimators\n\nAchim Zeileis\nUniversität Innsbruck\n\nAbstract\n\nSandwich covariance matrix estimators are a popular tool.' };
const match = (entries: BibliographyEntry[], documents: CandidateDocument[]) => matchDocuments(entries, documents).map(({ documentId, reason }) => [documentId, reason]);

describe('the document of an entry', () => {
  it('has its title at the top and its author on the first page', () => {
    expect(match([zeileis], [{ ...paper, id: 'other', head: 'Something Else\n\nA. Nobody' }, paper])).toEqual([['d1', 'title']]);
  });

  it.each([
    ['mentions the title in a sentence', 'Econometric Computing\n\nAchim Zeileis\n\nA follow-up paper on\nobject-oriented computation of sandwich estimators is available (Zeileis 2006b).'],
    ['comments on it', 'Comment on\nObject-Oriented Computation of Sandwich Estimators\n\nA. Zeileis replies'],
    ['has another title by the same author', 'Object-Oriented Analysis of Tree Estimators in R\n\nAchim Zeileis\n2006'],
    ['has the title alone, without the author, further down', 'A Collection of Notes on Various Things that Were Seen and Heard by the People of the Town\n\nObject-Oriented Computation of Sandwich Estimators\n\nB. Someone'],
    ['is empty', ''],
  ])('is not one that %s', (_, head) => {
    expect(match([zeileis], [{ id: 'd2', filename: 'x.pdf', head }])).toEqual([[null, 'no_match']]);
  });

  it('may lack the subtitle, and write hyphens, accents and capitals differently', () => {
    const entries = [entry('Müller, H. (2004). Schätzen in großen Gruppen: Ein Überblick über Time-Series-Verfahren. Berlin.')];
    expect(match(entries, [{ id: 'd1', filename: 'a.pdf', head: 'SCHÄTZEN IN GROSSEN GRUPPEN\nHanna Müller\n2004' }])).toEqual([['d1', 'title']]);
  });

  it('is none where two fit equally', () => {
    expect(match([zeileis], [paper, { ...paper, id: 'd2' }])).toEqual([[null, 'ambiguous']]);
  });

  it('is found by author and year in the file name only if nobody else is meant', () => {
    const scan: CandidateDocument = { id: 'd1', filename: 'Zeileis2006.pdf', head: 'Scanned by the library. A. Zeileis' };
    const second = entry('Zeileis A (2006a). “Implementing a Class of Structural Change Tests.” CSDA, 50.', 1);
    expect(match([zeileis], [scan])).toEqual([['d1', 'filename']]);
    expect(match([zeileis, second], [scan])).toEqual([[null, 'no_match'], [null, 'no_match']]);
    expect(match([zeileis], [{ ...scan, head: 'Scanned by the library.' }])).toEqual([[null, 'no_match']]);
  });

  it('may be that of two entries with the same title', () => {
    const preprint = entry('Zeileis A (2005). “Object-Oriented Computation of Sandwich Estimators.” Technical report.', 1);
    expect(match([zeileis, preprint], [paper])).toEqual([['d1', 'title'], ['d1', 'title']]);
  });
});
