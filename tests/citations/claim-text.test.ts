import { expect, test } from 'vitest';
import { withoutMarks } from '../../server/citations/claim-text.js';

test.each([
  ['Noise harms sleep (Koch 2004).', 'Noise harms sleep .'],
  ['Noise harms sleep (vgl. z. B. Koch & de Vries, 2004, S. 12 f.; Müller et al. 2010b).', 'Noise harms sleep .'],
  ['Koch und von der Heide (2004) zeigen, dass Lärm schadet.', 'zeigen, dass Lärm schadet.'],
  ['Müller, Groß and Öztürk et al. (1999a, p. 3) find that noise harms.', 'find that noise harms.'],
  ['Noise harms sleep [3, 12–14] and [Mül04].', 'Noise harms sleep and .'],
  ['Noise (see Section 2) harms 1200 people in Leeds.', 'Noise (see Section 2) harms 1200 people in Leeds.'],
])('%s → %s', (text, expected) => {
  expect(withoutMarks({ text })).toBe(expected);
});

test('the mark that the thesis names goes whatever its form', () => {
  expect(withoutMarks({ text: 'Koch’s rule holds.³', mark: '³' })).toBe('Koch’s rule holds.');
});

test('a sentence that is nothing but its mark keeps it', () => {
  expect(withoutMarks({ text: '(Koch 2004)', mark: '(Koch 2004)' })).toBe('(Koch 2004)');
});
