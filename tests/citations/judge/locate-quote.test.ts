import fc from 'fast-check';
import { expect, test } from 'vitest';
import { locateQuote } from '../../../server/citations/judge/locate-quote.js';

function found(body: string, quote: string): string[] | null {
  return locateQuote(body, quote)?.map(({ from, to }) => body.slice(from, to)) ?? null;
}

test('a quote is found word for word, with the place where it stands', () => {
  const body = 'First this. The estimator is consistent under weak conditions. Then that.';
  expect(locateQuote(body, 'The estimator is consistent under weak conditions.')).toEqual([{ from: 12, to: 61 }]);
  expect(body.slice(12, 61)).toBe('The estimator is consistent under weak conditions');
});

test.each([
  ['line ends and spaces', 'the esti\nmator  is\r\nconsistent here', 'The estimator is consistent here', 'the esti\nmator  is\r\nconsistent here'],
  ['a word hyphenated at a line’s end', 'a consis-\ntent estimator', 'a consistent estimator', 'a consis-\ntent estimator'],
  ['a soft hyphen', 'a consis\u00adtent estimator', 'a consistent estimator', 'a consis\u00adtent estimator'],
  ['ligatures', 'the eﬃcient ﬁt of coeﬃcients', 'efficient fit of coefficients', 'eﬃcient ﬁt of coeﬃcients'],
  ['letters with separate accents', 'die Scha\u0308tzung der Gro\u0308ße', 'die Schätzung der Größe', 'die Scha\u0308tzung der Gro\u0308ße'],
  ['quotation marks and dashes', 'the so-called “sandwich” estimators – robust ones', 'the so–called "sandwich" estimators - robust ones', 'the so-called “sandwich” estimators – robust ones'],
  ['the end of a compound left out', 'bei Fort- und Weiterbildung helfen', 'und Weiterbildung helfen', 'und Weiterbildung helfen'],
])('%s make no difference', (_, body, quote, expected) => {
  expect(found(`Before. ${body}. After.`, quote)).toEqual([expected]);
});

test.each([
  ['a word that is not there', 'It lowers the mean of all values.', 'It raises the mean of all values.'],
  ['the inside of a longer word', 'The claim is unsupported by these data.', 'supported by these data.'],
  ['the rest of a word hyphenated at a line’s end', 'The claim is un-\nsupported by these data.', 'supported by these data.'],
  ['a minus', 'The effect is -5 percent in all years.', 'The effect is 5 percent in all years.'],
  ['too little to mean anything', 'of the', 'of the'],
  ['an empty quote', 'Something.', ''],
  ['punctuation alone', 'Something.', '… . …'],
])('%s is not found', (_, body, quote) => {
  expect(found(body, quote)).toBeNull();
});

test('a quote with an ellipsis gives its pieces in their order, or nothing', () => {
  const body = 'The estimator, which is old, is consistent. It is not efficient at all.';
  expect(found(body, 'The estimator … is consistent. It is not')).toEqual(['The estimator', 'is consistent. It is not']);
  expect(found(body, 'is consistent [...] The estimator')).toBeNull();
});

test('whatever piece of whatever text is cut out at word ends is found with exactly its text', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcdefäöüßﬁéñ0123'), minLength: 3, maxLength: 9 });
  const gap = fc.constantFrom(' ', '\n', '  ', ', ', '. ', ' – ', '\t');
  fc.assert(fc.property(fc.array(fc.tuple(word, gap), { minLength: 12, maxLength: 40 }), fc.nat(5), (pieces, start) => {
    const body = pieces.flat().join('');
    const quote = pieces.slice(start, start + 6).flat().join('').trim();
    const spans = locateQuote(body, quote.replace(/\s+/g, ' '));
    expect(spans).not.toBeNull();
    const [{ from, to }] = spans as [{ from: number; to: number }];
    const bare = (text: string) => text.normalize('NFKC').replace(/[\s.,]+/g, '').replace(/^–|–$/g, '');
    expect(bare(body.slice(from, to))).toBe(bare(quote));
  }), { numRuns: 300 });
});
