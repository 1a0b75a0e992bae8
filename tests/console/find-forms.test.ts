import { expect, test } from 'vitest';
import { recogniseForms } from '../../server/console/find-forms.js';

const ID = '018f3a2b-77aa-7c31-9d04-5b6e7f809a1b';
const DIGITS = ID.replaceAll('-', '');

test.each([
  ['an address, whole', 'anna.weber@uni-bonn.example', { text: 'anna.weber@uni-bonn.example', email: 'anna.weber@uni-bonn.example' }],
  ['an address in a pasted line', 'From: Anna Weber <Anna.Weber@uni-bonn.example>, yesterday', { text: 'Anna.Weber@uni-bonn.example' }],
  ['an address as a link', 'mailto:anna@uni-bonn.example', { text: 'anna@uni-bonn.example' }],
  ['an address at the end of a sentence', 'It was anna@uni-bonn.example.', { text: 'anna@uni-bonn.example' }],
  ['the start of an address', 'anna.we', { email: 'anna.we' }],
  ['two letters, which begin half of all addresses', 'an', { email: null, name: 'an', fileNames: [] }],
  ['several words, which are no address', 'anna weber', { email: null, slug: null, name: 'anna weber', fileNames: ['anna weber'] }],
  ['spaces around and within', '  anna \t\n weber ', { text: 'anna weber' }],
  ['quotes around', '„Kapitel 3“', { text: 'Kapitel 3' }],
  ['brackets around', '(Kapitel 3)', { text: 'Kapitel 3' }],
  ['nothing', '   ', { text: '', email: null, name: null, slug: null, fileNames: [] }],
  ['a slug in capitals', 'My-App', { slug: 'my-app', name: 'My-App' }],
  ['a slug in full-width letters', 'Ａpp', { slug: 'app' }],
  ['zero bytes', 'a\0nna', { text: 'anna' }],
] as const)('%s', (_what, input, forms) => {
  expect(recogniseForms(input)).toMatchObject(forms);
});

test.each([
  ['whole', ID, { whole: ID, range: null, tail: null }],
  ['in capitals', ID.toUpperCase(), { whole: ID, range: null, tail: null }],
  ['without hyphens', DIGITS, { whole: ID, range: null, tail: null }],
  ['as a URN', `urn:uuid:${ID}`, { whole: ID, range: null, tail: null }],
  ['in braces', `{${ID}}`, { whole: ID, range: null, tail: null }],
  ['inside a link of this console', `https://console.example/queues/parse-items/${ID}?x=1`, { whole: ID, range: null, tail: null }],
  ['inside a line of the log', `{"event":"item_failed","row":"${ID}","code":"no_text"}`, { whole: ID, range: null, tail: null }],
  ['its first twelve digits', '018f3a2b-77aa', { whole: null, range: ['018f3a2b-77aa-0000-0000-000000000000', '018f3a2b-77aa-ffff-ffff-ffffffffffff'], tail: '018f3a2b77aa' }],
  ['its first seventeen digits', '018f3a2b-77aa-7c31-9', { whole: null, range: ['018f3a2b-77aa-7c31-9000-000000000000', '018f3a2b-77aa-7c31-9fff-ffffffffffff'], tail: '018f3a2b77aa7c319' }],
  ['its first eleven digits, which too many share', '018f3a2b-77a', { whole: null, range: null, tail: '018f3a2b77a' }],
  ['its last eight digits', '7f809a1b', { whole: null, range: null, tail: '7f809a1b' }],
  ['its last eight digits as lists show them', '…7F809A1B', { whole: null, range: null, tail: '7f809a1b' }],
  ['its last eight digits with three dots', '... 7f809a1b', { whole: null, range: null, tail: '7f809a1b' }],
  ['seven digits', '7f809a1', { whole: null, range: null, tail: null }],
  ['a word that is no number', '7f809a1g', { whole: null, range: null, tail: null }],
  ['more digits than an id has', `${DIGITS}0`, { whole: null, range: null, tail: null }],
] as const)('an id, %s', (_what, input, id) => {
  expect(recogniseForms(input).id).toEqual(id);
});

test('a name is looked for as German keyboards spell it, too', () => {
  expect(recogniseForms('Müller').fileNames).toEqual(['Müller', 'Mueller']);
  expect(recogniseForms('mueller.pdf').fileNames).toEqual(['mueller.pdf', 'muller.pdf']);
  expect(recogniseForms('paper').fileNames).toEqual(['paper']);
});

test('one input is everything that it may be', () => {
  expect(recogniseForms('deadbeefcafe')).toMatchObject({ email: 'deadbeefcafe', name: 'deadbeefcafe', slug: 'deadbeefcafe', fileNames: ['deadbeefcafe'], id: { tail: 'deadbeefcafe' } });
});

test('an input of any length and any content is cut, not refused', () => {
  expect(recogniseForms('x'.repeat(100_000)).text).toHaveLength(255);
  expect(recogniseForms('\ud800%_\\').text).toBe('\ufffd%_\\');
});
