import { cleanText } from '../../db/text.js';
import { ground } from './ground.js';
import type { Evidence, JudgedPassage, Judgement } from './judge.js';
import { answerSchema, type Answer } from './prompt.js';

/** What can be made of a model's text. `judgement` is missing when it has no usable form; `fault` says what is wrong with it. */
export interface Reading {
  judgement?: Judgement;
  fault?: string;
}

const LONGEST_RATIONALE = 1_000;
const MOST_EVIDENCE = 8;
/** A verdict that rests on nothing found is worth little, whatever the model thought of it. */
const DOWNGRADED_CONFIDENCE = 0.2;

/** Never trusts: the form is checked, every quote is looked up, and what is not found takes the verdict down. */
export function readAnswer(text: string, passages: readonly JudgedPassage[]): Reading {
  const parsed = answerSchema.safeParse(jsonIn(text));
  if (!parsed.success) return { fault: `it is not the JSON object asked for (${parsed.error.issues.slice(0, 3).map((issue) => `${issue.path.join('.') || 'answer'}: ${issue.message}`).join('; ')}).` };
  if (!(parsed.data.confidence >= 0 && parsed.data.confidence <= 1)) return { fault: 'confidence must be a number from 0 to 1.' };
  return grounded(parsed.data, passages);
}

function grounded(answer: Answer, passages: readonly JudgedPassage[]): Reading {
  const found = answer.evidence.slice(0, MOST_EVIDENCE).map((quoted) => ground(quoted, passages));
  const evidence = distinct(found.flatMap((spans) => spans ?? []));
  const invented = answer.evidence.filter((_, i) => found[i] === null);
  const judgement: Judgement = { verdict: answer.verdict, confidence: answer.confidence, evidence, rationale: cleanText(answer.rationale).slice(0, LONGEST_RATIONALE) };
  if (answer.verdict === 'not_supported') return { judgement };
  if (invented.length > 0) return { judgement: downgrade(judgement, 'quote_not_found'), fault: `these quotes do not occur in the passages: ${JSON.stringify(invented.map(({ quote }) => quote.slice(0, 300)))}. Copy quotes word for word, or change the verdict.` };
  if (evidence.length === 0) return { judgement: downgrade(judgement, 'no_quote'), fault: `"${answer.verdict}" needs at least one quote.` };
  return { judgement };
}

function downgrade(judgement: Judgement, downgraded: NonNullable<Judgement['downgraded']>): Judgement {
  const why = downgraded === 'quote_not_found' ? 'a quote that was given as evidence does not occur in the source' : 'no quote was given as evidence';
  const rationale = `Lowered from ${judgement.verdict}: ${why}. ${judgement.rationale ?? ''}`.trim();
  return { ...judgement, verdict: 'not_supported', confidence: Math.min(judgement.confidence, DOWNGRADED_CONFIDENCE), rationale, downgraded };
}

function distinct(evidence: readonly Evidence[]): Evidence[] {
  return evidence.filter((one, i) => evidence.findIndex((other) => other.charFrom === one.charFrom && other.charTo === one.charTo && other.documentId === one.documentId) === i);
}

/** The text as JSON, or the object inside prose, a code fence, or behind a model's thoughts. */
function jsonIn(text: string): unknown {
  const said = text.replace(/<think>[\s\S]*?<\/think>/g, '').trim();
  return parsed(said) ?? parsed(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
