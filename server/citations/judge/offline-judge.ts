/**
 * A judge without a model: it compares words, numbers, directions, negations and scope, sentence by sentence. It knows no synonyms and no
 * second language, so it errs towards "not supported", and its label says what it is wherever a verdict is shown. Deterministic.
 */
import { createStems } from '../../sources/terms.js';
import { withoutMarks } from '../claim-text.js';
import { languageOf } from '../claims/sentences.js';
import { evidenceAt } from './ground.js';
import type { Judge, JudgedPassage, Judgement } from './judge.js';
import { rarity, readSentences, type ReadSentence } from './read-sentences.js';
import { wordingReader, type ReadWording, type Wording } from './wording.js';

export const OFFLINE_LABEL = 'offline-lexical';

/** Shares of the claim's weighted words. Calibrated on generated theses and on paraphrases written by hand (`npm run bench quality`). */
const SPEAKS_OF_IT = 0.4;
const SAYS_IT = 0.68;
/** Words alone never make sure. */
const MOST_CONFIDENCE = 0.75;
const NOTHING_CONFIDENCE = 0.4;

export function offlineJudge(): Judge {
  const read = wordingReader(createStems());
  return {
    label: OFFLINE_LABEL,
    // eslint-disable-next-line @typescript-eslint/require-await
    async judge(claim, passages, signal) {
      signal.throwIfAborted();
      return weigh(withoutMarks(claim), passages, read);
    },
  };
}

/** The sentence that says most of the claim, and the one behind it. */
interface Match {
  sentence: ReadSentence;
  next: ReadSentence | undefined;
  coverage: number;
}

function weigh(text: string, passages: readonly JudgedPassage[], read: ReadWording): Judgement {
  const claim = read(text);
  const best = bestMatch(claim, readSentences(passages, read));
  if (!best || best.coverage < SPEAKS_OF_IT) return silent(text, passages, best?.coverage ?? 0);
  const { passage, from } = best.sentence;
  const verdict = verdictOn(claim, best);
  const to = verdict.withNext && best.next ? best.next.to : best.sentence.to;
  return { verdict: verdict.is, confidence: confidence(best.coverage, verdict.is), evidence: [evidenceAt(passages, passage, from, to)], rationale: `Compared word by word, without a model: ${percent(best.coverage)} of what the claim says stands in this sentence; ${verdict.why}.` };
}

function bestMatch(claim: Wording, sentences: readonly ReadSentence[]): Match | undefined {
  const weight = rarity(sentences);
  const whole = claim.content.reduce((sum, stems) => sum + weight(stems), 0);
  let best: Match & { score: number } | undefined;
  for (const [i, sentence] of sentences.entries()) {
    const said = claim.content.filter((stems) => stems.some((stem) => sentence.wording.stems.has(stem))).reduce((sum, stems) => sum + weight(stems), 0);
    const coverage = whole > 0 ? said / whole : 0;
    const score = coverage + 0.15 * share(claim.numbers, sentence.wording.numbers);
    const next = sentences[i + 1]?.passage === sentence.passage ? sentences[i + 1] : undefined;
    if (!best || score > best.score + 1e-9) best = { sentence, next, coverage, score };
  }
  return best;
}

function share(wanted: ReadonlySet<string>, there: ReadonlySet<string>): number {
  return wanted.size === 0 ? 0 : [...wanted].filter((one) => there.has(one)).length / wanted.size;
}

interface Finding {
  is: Judgement['verdict'];
  why: string;
  /** The sentence behind belongs to the evidence. */
  withNext?: boolean;
}

function verdictOn(claim: Wording, { sentence: { wording }, next, coverage }: Match): Finding {
  if (opposed(claim, wording)) return { is: 'not_supported', why: 'the source reports the opposite direction' };
  if (claim.negated !== wording.negated && coverage >= SAYS_IT) return { is: 'not_supported', why: `only the ${claim.negated ? 'claim' : 'source'} denies it` };
  const numbers = share(claim.numbers, wording.numbers);
  if (claim.numbers.size > 0 && numbers === 0 && wording.numbers.size > 0) return { is: 'not_supported', why: 'the source gives other numbers' };
  if (claim.universal && !claim.restricted && !wording.universal) {
    if (wording.restricted) return { is: 'partly_supported', why: 'the claim speaks of all, the source of some' };
    if (next?.wording.restricted) return { is: 'partly_supported', why: 'the claim speaks of all, the source limits that in its next sentence', withNext: true };
  }
  if (claim.numbers.size > 0 && numbers < 1) return { is: 'partly_supported', why: 'not all numbers of the claim stand there' };
  return coverage >= SAYS_IT ? { is: 'supported', why: 'numbers and direction agree' } : { is: 'partly_supported', why: 'a part of the claim does not stand there' };
}

function opposed(claim: Wording, source: Wording): boolean {
  return (claim.up && !claim.down && source.down && !source.up) || (claim.down && !claim.up && source.up && !source.down);
}

function silent(text: string, passages: readonly JudgedPassage[], coverage: number): Judgement {
  const [first] = passages;
  const foreign = first !== undefined && languageOf(text) !== languageOf(passages.map(({ body }) => body).join('\n'));
  const why = foreign ? ' Claim and source are in different languages, which words alone cannot bridge.' : '';
  return {
    verdict: 'not_supported', confidence: foreign ? 0.1 : NOTHING_CONFIDENCE * (1 - coverage), evidence: [],
    rationale: first ? `Compared word by word, without a model: no sentence of the source says more than ${percent(coverage)} of the claim.${why}` : 'No passage of the source could be found for this claim.',
  };
}

/** Further from the threshold is surer. */
function confidence(coverage: number, verdict: Judgement['verdict']): number {
  const margin = verdict === 'partly_supported' ? 0.3 : Math.abs(coverage - SPEAKS_OF_IT);
  return Math.round(Math.min(MOST_CONFIDENCE, 0.35 + 0.6 * margin) * 100) / 100;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
