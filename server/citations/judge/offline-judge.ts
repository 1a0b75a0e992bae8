/**
 * A judge without a model: it compares words, numbers, directions, negations and scope, sentence by sentence. It knows no synonyms and no
 * second language, so it errs towards "not supported", and its label says what it is wherever a verdict is shown. Deterministic.
 */
import { createStems } from '../../sources/terms.js';
import { withoutMarks } from '../claim-text.js';
import { languageOf } from '../claims/sentences.js';
import { bestMatch, share, speakingPart, type Match } from './best-match.js';
import { evidenceAt } from './ground.js';
import type { Judge, JudgedPassage, Judgement } from './judge.js';
import { readSentences, type ReadSentence } from './read-sentences.js';
import { has, opposed, wordingReader, type ReadWording, type Wording } from './wording.js';

export const OFFLINE_LABEL = 'offline-lexical';

/** Shares of the claim's weighted words. Calibrated on generated theses and on paraphrases written by hand (`npm run bench quality`). */
const TOUCHES_IT = 0.3;
const SPEAKS_OF_IT = 0.4;
const DENIES_IT = 0.5;
const SAYS_IT = 0.65;
/** Words alone never make sure. */
const MOST_CONFIDENCE = 0.75;
const NOTHING_CONFIDENCE = 0.4;

/** What the thesis says of itself: "Equation 9", "Abschnitt 2.1" are no numbers of the source's. */
const INTERNAL = /(?<!\p{L})(?:Equations?|Eqs?\.|Sections?|Sec\.|Tables?|Figures?|Figs?\.|Chapters?|Appendix|Gleichung|Gl\.|Abschnitt|Abschn\.|Tabelle|Tab\.|Abbildung|Abb\.|Kapitel|Kap\.)\s*\(?\d+(?:\.\d+)*\)?/giu;

export function offlineJudge(): Judge {
  const read = wordingReader(createStems());
  return {
    label: OFFLINE_LABEL,
    async judge(claim, passages, signal) {
      signal.throwIfAborted();
      return weigh(withoutMarks(claim).replace(INTERNAL, ' '), passages, read);
    },
  };
}

function weigh(text: string, passages: readonly JudgedPassage[], read: ReadWording): Judgement {
  const sentences = readSentences(passages, read);
  const parts = partsOf(text, read);
  const findings = parts.map((part) => find(part, sentences));
  const answered = findings.filter((finding) => finding.sentence !== undefined);
  if (answered.length === 0) return silent(text, passages, Math.max(...findings.map(({ coverage }) => coverage)));
  const is = together(findings.map((finding) => finding.is));
  const deciding = answered.flatMap(({ sentence, also }) => [sentence, also]).filter((one) => one !== undefined);
  const evidence = [...new Set(deciding)].map(({ passage, from, to }) => evidenceAt(passages, passage, from, to));
  const reasons = findings.map(({ coverage, why }) => `${percent(coverage)} of ${parts.length > 1 ? 'a part of ' : ''}what the claim says stands in one sentence and around it; ${why}`);
  return { verdict: is, confidence: Math.min(...answered.map(({ coverage }) => confidence(coverage, is))), evidence, rationale: `Compared word by word, without a model: ${reasons.join('. ')}.` };
}

/** "It lowers this and raises that": two claims in one, if both say something. */
function partsOf(text: string, read: ReadWording): Wording[] {
  const halves = text.split(/,?\s(?:and|und|but|aber|sowie)\s/u).map(read);
  return halves.length === 2 && halves.every((half) => half.content.length >= 2) ? halves : [read(text)];
}

function together(verdicts: readonly Judgement['verdict'][]): Judgement['verdict'] {
  return verdicts.every((verdict) => verdict === verdicts[0]) ? verdicts[0]! : 'partly_supported';
}

function find(claim: Wording, sentences: readonly ReadSentence[]): Finding & { coverage: number; sentence?: ReadSentence } {
  const best = bestMatch(claim, sentences);
  if (!best || best.direct < TOUCHES_IT || best.coverage < SPEAKS_OF_IT) return { is: 'not_supported', why: 'that is too little', coverage: best?.coverage ?? 0 };
  return { ...verdictOn(claim, best), coverage: best.coverage, sentence: best.sentence };
}

interface Finding {
  is: Judgement['verdict'];
  why: string;
  /** A second sentence that decided. */
  also?: ReadSentence;
}

function verdictOn(claim: Wording, match: Match): Finding {
  const { sentence, coverage } = match;
  const part = speakingPart(claim, sentence);
  if (opposed(claim, part)) return { is: 'not_supported', why: 'the source says the opposite' };
  if (claim.negated !== part.negated && coverage >= DENIES_IT) return { is: 'not_supported', why: `only the ${claim.negated ? 'claim' : 'source'} denies it` };
  const numbers = share(claim.numbers, sentence.wording.numbers);
  if (claim.numbers.size > 0 && numbers === 0 && sentence.wording.numbers.size > 0) return { is: 'not_supported', why: 'the source gives other numbers' };
  return tooWide(claim, match) ?? inPart(claim, part, numbers, coverage) ?? { is: 'supported', why: 'numbers and direction agree' };
}

/** The claim speaks of all, the source of some: in the sentence, the one behind, or one around it about the same. */
function tooWide(claim: Wording, { sentence, around }: Match): Finding | undefined {
  if (!claim.universal || claim.restricted || sentence.wording.universal) return undefined;
  if (sentence.wording.restricted) return { is: 'partly_supported', why: 'the claim speaks of all, the source of some' };
  const also = around.find((other) => other.from > sentence.from && other.wording.restricted && (isNext(sentence, other, around) || claim.content.some((word) => has(other.wording.stems, word))));
  return also && { is: 'partly_supported', why: 'the claim speaks of all, the source limits that in another sentence', also };
}

function isNext(sentence: ReadSentence, other: ReadSentence, around: readonly ReadSentence[]): boolean {
  return around.find(({ from }) => from > sentence.from) === other;
}

function inPart(claim: Wording, source: Wording, numbers: number, coverage: number): Finding | undefined {
  if (claim.axes[0] !== 0 && source.axes.every((end) => end === 0)) return { is: 'partly_supported', why: 'the source names no direction' };
  if (claim.numbers.size > 0 && numbers < 1) return { is: 'partly_supported', why: 'not all numbers of the claim stand there' };
  return coverage < SAYS_IT ? { is: 'partly_supported', why: 'a part of the claim does not stand there' } : undefined;
}

function silent(text: string, passages: readonly JudgedPassage[], coverage: number): Judgement {
  const [first] = passages;
  const foreign = first !== undefined && languageOf(text) !== languageOf(passages.map(({ body }) => body).join('\n'));
  const why = foreign ? ' Claim and source are in different languages, which words alone cannot bridge.' : '';
  return {
    verdict: 'not_supported', confidence: foreign ? 0.1 : rounded(NOTHING_CONFIDENCE * (1 - coverage)), evidence: [],
    rationale: first ? `Compared word by word, without a model: no sentence of the source says more than ${percent(coverage)} of the claim.${why}` : 'No passage of the source could be found for this claim.',
  };
}

/** Further from the threshold is surer. */
function confidence(coverage: number, verdict: Judgement['verdict']): number {
  const margin = verdict === 'partly_supported' ? 0.3 : Math.abs(coverage - SPEAKS_OF_IT);
  return rounded(Math.min(MOST_CONFIDENCE, 0.35 + 0.6 * margin));
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
