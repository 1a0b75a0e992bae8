import type { Evidence, JudgedPassage } from './judge.js';
import { locateQuote } from './locate-quote.js';
import { pageWithin } from './page-within.js';

export interface Quoted {
  /** Index in the passages, as the model has it. */
  passage: number;
  quote: string;
}

/** The quote as evidence, with its place: in the passage it names, else in the first that has it; null when none has. */
export function ground({ passage, quote }: Quoted, passages: readonly JudgedPassage[]): Evidence[] | null {
  const order = [passage, ...passages.keys()].filter((at, i, all) => passages[at] !== undefined && all.indexOf(at) === i);
  for (const at of order) {
    const spans = locateQuote(passages[at]!.body, quote);
    if (spans) return spans.map(({ from, to }) => evidenceAt(passages, at, from, to));
  }
  return null;
}

/** A range of a passage as evidence. */
export function evidenceAt(passages: readonly JudgedPassage[], at: number, from: number, to: number): Evidence {
  const passage = passages[at]!;
  const { documentId, charFrom, body } = passage;
  return { passage: at, documentId, page: pageWithin(passage, from), charFrom: charFrom + from, charTo: charFrom + to, quote: body.slice(from, to) };
}
