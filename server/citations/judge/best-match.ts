import { rarity, type ReadSentence } from './read-sentences.js';
import { has, type Wording } from './wording.js';

/** The sentence that says most of a claim. */
export interface Match {
  sentence: ReadSentence;
  /** The sentences around it in its passage, in order, itself excepted. */
  around: ReadSentence[];
  /** Share of the claim's weighted words that stand in the sentence. */
  direct: number;
  /** And with half of what stands only around it. */
  coverage: number;
}

/** Sentences before and behind that give a sentence its context. */
const AROUND = 3;
const CONTEXT_WEIGHT = 0.5;
const NUMBERS_WEIGHT = 0.15;

export function bestMatch(claim: Wording, sentences: readonly ReadSentence[]): Match | undefined {
  const weight = rarity(sentences);
  const whole = claim.content.reduce((sum, word) => sum + weight(word), 0) || 1;
  let best: Match & { score: number } | undefined;
  for (const [i, sentence] of sentences.entries()) {
    const around = sentences.slice(Math.max(0, i - AROUND), i + AROUND + 1).filter((other) => other !== sentence && other.passage === sentence.passage);
    let direct = 0;
    let context = 0;
    for (const word of claim.content) {
      if (has(sentence.wording.stems, word)) direct += weight(word) / whole;
      else if (around.some(({ wording }) => has(wording.stems, word))) context += weight(word) / whole;
    }
    const coverage = direct + CONTEXT_WEIGHT * context;
    const score = coverage + NUMBERS_WEIGHT * share(claim.numbers, sentence.wording.numbers);
    if (!best || score > best.score + 1e-9) best = { sentence, around, direct, coverage, score };
  }
  return best;
}

export function share(wanted: ReadonlySet<string>, there: ReadonlySet<string>): number {
  return wanted.size === 0 ? 0 : [...wanted].filter((one) => there.has(one)).length / wanted.size;
}

/** Share of what the sentence has of the claim that one of its clauses must have to speak for the sentence. */
const MOST_OF_IT = 0.75;

/** The clause that has nearly all that the sentence has of the claim, or the sentence. */
export function speakingPart(claim: Wording, { wording, clauses }: ReadSentence): Wording {
  const count = (part: Wording) => claim.content.filter((word) => has(part.stems, word)).length;
  const least = MOST_OF_IT * count(wording);
  return clauses.filter((clause) => count(clause) >= least).sort((a, b) => count(b) - count(a))[0] ?? wording;
}
