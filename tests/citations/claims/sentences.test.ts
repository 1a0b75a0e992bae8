import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textFromPages } from '../../../server/citations/claims/document-text.js';
import { extractClaims } from '../../../server/citations/claims/extract-claims.js';
import { sentencesOf } from '../../../server/citations/claims/sentences.js';
import { claimsOf } from './small-thesis.js';

const cut = (text: string, language: 'de' | 'en' = 'de') => sentencesOf(text, language).map(({ from, to }) => text.slice(from, to));

describe('sentences', () => {
  it.each([
    ['Das gilt z. B. für Varianzen, d. h. für s2.', 'Es gilt vgl. Abb. 3 und S. 12 immer.'],
    ['Müller et al. Schätzen das anders (vgl. Koch 2004, S. 3 f.; siehe Kap. 2. Dort mehr).', 'Dann folgt Satz zwei.'],
    ['Am 12. März und im 3. Quartal war es so.', 'Prof. Dr. H. Beispiel stimmt zu.'],
    ['Der Wert beträgt 3.14 bzw. 2,71 Einheiten!', 'Warum?', '„Weil es so ist.“', 'Ende.'],
  ])('end where they end: %s', (...sentences) => {
    expect(cut(sentences.join(' '))).toEqual(sentences);
  });

  it.each([
    ['The system is called R.', 'The package, e.g. by K. V. Mardia, is free.'],
    ['See Fig. 3 and Eq. 4, i.e. p. 12.', 'The answer is no.', 'It (see below. And above) is over.'],
    ['It holds, cf. Section 2.1.', '(This is a sentence of its own.)', 'It ends.'],
  ])('end where they end in English: %s', (...sentences) => {
    expect(cut(sentences.join(' '), 'en')).toEqual(sentences);
  });
});

describe('claims', () => {
  it.each([
    ['It is robust. (Zeileis 2004) The next sentence says nothing.', 'It is robust. (Zeileis 2004)'],
    ['Nothing here. It is robust (Zeileis 2004). Nothing there.', 'It is robust (Zeileis 2004).'],
    ['It is robust and fast. Zeileis (2004).', 'It is robust and fast. Zeileis (2004).'],
    ['Nothing here! Zeileis (2004) shows that it is robust; more follows. Nothing there.', 'Zeileis (2004) shows that it is robust; more follows.'],
  ])('hold the sentence of their mark: %s', (text, reading) => {
    expect(claimsOf(text).claims.map((claim) => claim.reading)).toEqual([reading]);
  });

  it('are one for each cited work, and one for a work cited twice', () => {
    const { claims } = claimsOf('Zeileis (2004) and Groß (1999) agree that it is robust (Zeileis 2004, p. 3).');
    expect(claims.map(({ ordinal, markText, marks, locator }) => ({ ordinal, markText, marks: marks.length, locator }))).toEqual([
      { ordinal: 0, markText: 'Zeileis (2004)', marks: 2, locator: 'p. 3' }, { ordinal: 1, markText: 'Groß (1999)', marks: 1, locator: null },
    ]);
  });

  it('are not made of headings, whose marks are counted all the same', () => {
    const result = claimsOf('2.1. The method of Zeileis (2004)\n\nIt is robust.');
    expect(result.claims).toEqual([]);
    expect(result.summary.marks).toMatchObject({ seen: 1, resolved: 1, inHeadings: 1 });
  });

  it('read as one line what stands over two pages, and name the exact range', () => {
    const pages = ['Kopf der Arbeit 1\n\nDie Schätzung ist auch bei ab-\nhängigen Fehlern in sehr großen Stichproben noch so', 'Kopf der Arbeit 2\n\nrobust wie gewünscht (Zeileis 2004). Ende.', 'Literatur\n\nZeileis, A. (2004). Econometric computing. Vienna.'];
    const document = textFromPages(pages);
    const [claim] = extractClaims(document).claims;
    expect(claim?.reading).toBe('Die Schätzung ist auch bei abhängigen Fehlern in sehr großen Stichproben noch so robust wie gewünscht (Zeileis 2004).');
    expect(claim).toMatchObject({ page: 1, charFrom: pages[0]!.indexOf('Die') });
    expect(claim?.sentence).toBe(document.text.slice(claim?.charFrom, claim?.charTo));
  });
});

const piece = fc.oneof(
  fc.constantFrom('Zeileis (2004) zeigt das.', '(vgl. Müller und Koch 2004, S. 3)', 'Groß 1999', '[1]', '[2, 3]', 'z. B.', 'et al.', 'Fehler.1', '1 Vgl. Groß 1999.', 'ab-', 'hängig', 'Literatur', 'References', '“quoted.”', '(', ')', '[', '🙂', 'ﬁ'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('Zeileis, A. (2004). Econometric computing. Vienna.', '[1] P. Groß. Schätzer. Berlin, 1999.'),
);
const page = fc.array(fc.tuple(piece, fc.constantFrom(' ', ' ', '\n', '\n\n')), { maxLength: 40 }).map((parts) => parts.flat().join(''));

describe('offsets', () => {
  it('are exact for any text, and everything seen is accounted for', () => {
    fc.assert(fc.property(fc.array(page, { maxLength: 5 }), (pages) => {
      const document = textFromPages(pages);
      const result = extractClaims(document);
      for (const claim of result.claims) {
        expect(document.text.slice(claim.charFrom, claim.charTo)).toBe(claim.sentence);
        expect(claim.sentence.trim()).toBe(claim.sentence);
        const home = document.pages[claim.page - 1]!;
        expect(claim.charFrom >= home.from && claim.charFrom < home.to).toBe(true);
      }
      for (const mark of result.marks) expect(mark.charFrom < mark.charTo && mark.charTo <= document.text.length).toBe(true);
      for (const entry of result.bibliography) expect(entry.charFrom < entry.charTo).toBe(true);
      const { marks } = result.summary;
      expect(marks.resolved + marks.unresolved).toBe(marks.seen);
      expect(Object.values(marks.reasons).reduce((sum, count) => sum + count, 0)).toBe(marks.unresolved);
      expect(result.claims.reduce((sum, claim) => sum + claim.marks.length, 0) + marks.inHeadings).toBe(marks.seen);
      expect(result.claims.map((claim) => claim.ordinal)).toEqual(result.claims.map((_, i) => i));
    }), { numRuns: 150 });
  });
});
