import type { ResolvedMark } from './marks.js';
import type { Sentence } from './sentences.js';

/** The text of one claim, and the marks in it (indexes) that cite the same work. */
export interface ClaimRange extends Sentence {
  marks: number[];
}

/** Fewer words beside the mark say nothing that a source could support. */
const MIN_WORDS = 3;

/** For each sentence with marks one range a cited work. A mark that stands alone takes the sentence before it along. */
export function groundClaims(text: string, sentences: readonly Sentence[], marks: readonly ResolvedMark[]): ClaimRange[] {
  const claims: ClaimRange[] = [];
  let next = 0;
  sentences.forEach((sentence, i) => {
    const own: number[] = [];
    for (; next < marks.length && marks[next]!.from < sentence.to; next++) own.push(next);
    if (own.length === 0 || isHeading(text, sentence)) return;
    const range = wordsBeside(text, sentence, own.map((at) => marks[at]!)) < MIN_WORDS ? withPrevious(text, sentences, i) : sentence;
    for (const group of byWork(own, marks)) claims.push({ from: range.from, to: Math.max(range.to, ...group.map((at) => Math.min(marks[at]!.to, text.length))), marks: group });
  });
  return claims;
}

/** "5.2. Petersen (2009)": a numbered line of its own that ends like no sentence. It names a work and claims nothing. */
function isHeading(text: string, { from, to }: Sentence): boolean {
  const alone = (from === 0 || text.charAt(from - 1) === '\n') && (to === text.length || text.charAt(to) === '\n');
  return alone && to - from < 150 && /^(?:\d{1,2}\.)*\d{1,2}\.?\s\p{Lu}.*[^.!?:]$/u.test(text.slice(from, to));
}

function wordsBeside(text: string, sentence: Sentence, marks: readonly ResolvedMark[]): number {
  let words = 0;
  let at = sentence.from;
  for (const mark of [...marks, { from: sentence.to, to: sentence.to }]) {
    if (mark.from > at) words += text.slice(at, mark.from).match(/\p{L}{2,}/gu)?.length ?? 0;
    at = Math.max(at, mark.to);
  }
  return words;
}

function withPrevious(text: string, sentences: readonly Sentence[], i: number): Sentence {
  const own = sentences[i]!;
  const previous = sentences[i - 1];
  return previous && !text.slice(previous.to, own.from).includes('\n') ? { from: previous.from, to: own.to } : own;
}

/** Unresolved marks are works of their own: two unknown ones are hardly the same. */
function byWork(own: readonly number[], marks: readonly ResolvedMark[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const at of own) {
    const { resolution } = marks[at]!;
    const key = resolution.entry === null ? `mark ${at}` : `entry ${resolution.entry.index}`;
    groups.set(key, [...(groups.get(key) ?? []), at]);
  }
  return [...groups.values()];
}
