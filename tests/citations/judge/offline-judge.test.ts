import { expect, test } from 'vitest';
import { createJudge } from '../../../server/citations/judge/create-judge.js';
import { offlineJudge } from '../../../server/citations/judge/offline-judge.js';
import { never, passagesOf } from './passages.js';

const judge = offlineJudge();
const source = 'Among 812 nurses, weekly feedback lowered sick leave by 23 percent within two years. This finding holds for the older half of the sample only. The data come from a survey.';
const quelle = 'Bei 812 Pflegekräften verringerte wöchentliche Rückmeldung den Krankenstand innerhalb von zwei Jahren um 23 Prozent. Dieser Befund gilt nur für die ältere Hälfte der Befragten. Die Angaben stammen aus einer Befragung.';
const verdictOn = async (text: string, ...bodies: string[]) => (await judge.judge({ text }, passagesOf(...bodies), never)).verdict;

test('it says that it is offline', () => {
  expect(judge.label).toBe('offline-lexical');
  expect(createJudge({}).label).toBe('offline-lexical');
  expect(createJudge({ llmBaseUrl: 'http://127.0.0.1:1/v1', llmModel: 'm' }).label).toBe('model:m');
});

test.each([
  ['supported', 'Weekly feedback lowers sick leave among older nurses by 23 percent (Koch 2004).'],
  ['partly_supported', 'Weekly feedback lowers sick leave among all nurses of every age by 23 percent (Koch 2004).'],
  ['not_supported', 'Weekly feedback raises sick leave among older nurses by 23 percent (Koch 2004).'],
  ['not_supported', 'Weekly feedback does not lower sick leave among older nurses by 23 percent.'],
  ['not_supported', 'Weekly feedback lowers sick leave among older nurses by 41 percent.'],
  ['not_supported', 'Urban greenery lowers heat stress in the inner city.'],
])('%s: %s', async (verdict, text) => {
  expect(await verdictOn(text, 'Something else stands here.', source)).toBe(verdict);
});

test.each([
  ['supported', 'Wöchentliche Rückmeldung verringert den Krankenstand bei älteren Pflegekräften um 23 Prozent (vgl. Koch 2004, S. 12).'],
  ['partly_supported', 'Wöchentliche Rückmeldung verringert den Krankenstand bei allen Pflegekräften jeden Alters um 23 Prozent.'],
  ['not_supported', 'Wöchentliche Rückmeldung erhöht den Krankenstand bei älteren Pflegekräften um 23 Prozent.'],
  ['not_supported', 'Wöchentliche Rückmeldung verringert den Krankenstand bei älteren Pflegekräften nicht um 23 Prozent.'],
])('%s: %s', async (verdict, text) => {
  expect(await verdictOn(text, 'Etwas anderes steht hier.', quelle)).toBe(verdict);
});

test('the evidence is the sentence itself, at its place in the document', async () => {
  const passages = passagesOf('Something else stands here.', source);
  const { evidence } = await judge.judge({ text: 'Weekly feedback lowers sick leave by 23 percent.' }, passages, never);
  expect(evidence).toEqual([{ passage: 1, documentId: 'd1', page: 3, charFrom: passages[1]!.charFrom, charTo: passages[1]!.charFrom + 84, quote: source.slice(0, 84) }]);
});

test('a claim in another language than the source is not supported, and the reason says why', async () => {
  const judgement = await judge.judge({ text: 'Die wöchentliche Rückmeldung verringert den Krankenstand der Pflegekräfte.' }, passagesOf(source), never);
  expect(judgement).toMatchObject({ verdict: 'not_supported', confidence: 0.1 });
  expect(judgement.rationale).toContain('different languages');
});

test('it is never quite sure, and the same question has the same answer', async () => {
  const ask = () => offlineJudge().judge({ text: source }, passagesOf(source), never);
  const one = await ask();
  expect(one.confidence).toBeLessThanOrEqual(0.75);
  expect(await ask()).toEqual(one);
});

test.each([['no passages', []], ['empty passages', ['', '']], ['passages without a sentence', ['§ % – 12']]])('%s give no support', async (_, bodies) => {
  expect(await verdictOn('Weekly feedback lowers sick leave.', ...bodies)).toBe('not_supported');
  expect(await verdictOn('', ...bodies)).toBe('not_supported');
});

test('an aborted question has no answer', async () => {
  await expect(judge.judge({ text: 'x' }, [], AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled');
});

test('a claim of two halves is judged by both, with the evidence of both', async () => {
  const passages = passagesOf('Urban greenery reduced heat stress in the inner city.', 'Music training did not change test anxiety of pupils.');
  const both = await judge.judge({ text: 'Urban greenery lowers heat stress in the inner city and music training changes test anxiety of pupils.' }, passages, never);
  expect(both).toMatchObject({ verdict: 'partly_supported', evidence: [{ passage: 0 }, { passage: 1 }] });
});

test('a number of the thesis’s own sections and equations is not looked for in the source', async () => {
  expect(await verdictOn('As Section 3 and Equation 9 say, weekly feedback lowers sick leave of older nurses.', source)).toBe('supported');
});
