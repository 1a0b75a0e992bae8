import { expect, test } from 'vitest';
import { createStems, wordsOf } from '../../server/sources/terms.js';

const texts = (text: string) => wordsOf(text).map((word) => word.text);

test('numbers have one spelling, German and English', () => {
  expect(texts('1.234.567 and 1,234,567 and 1234567')).toEqual(['1234567', 'and', '1234567', 'and', '1234567']);
  expect(texts('0,05 0.05 1.234,5 1,234.5')).toEqual(['0.05', '0.05', '1234.5', '1234.5']);
});

test('ligatures, soft hyphens and words cut at a line’s end are put together', () => {
  expect(texts('eﬃcient Kran-\nkenstand Schät\u00adzer')).toEqual(['efficient', 'krankenstand', 'schätzer']);
});

test('runs of letters without end are no words', () => {
  expect(texts(`${'x'.repeat(10_000)} word`)).toEqual(['word']);
});

test('inflected forms meet in one of their stems, little words have none', () => {
  const stems = createStems();
  const meet = (a: string, b: string) => stems.of(a).some((stem) => stems.of(b).includes(stem));
  expect(meet('rückmeldungen', 'rückmeldung')).toBe(true);
  expect(meet('lowers', 'lowered')).toBe(true);
  expect(meet('estimators', 'estimator')).toBe(true);
  expect(meet('estimator', 'variance')).toBe(false);
  expect(stems.of('und')).toEqual([]);
  expect(stems.of('hc3')).toEqual(['hc3']);
});
