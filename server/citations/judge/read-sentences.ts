import { languageOf, sentencesOf } from '../claims/sentences.js';
import type { JudgedPassage } from './judge.js';
import type { ReadWording, Wording } from './wording.js';

export interface ReadSentence {
  /** Index of its passage. */
  passage: number;
  /** UTF-16 code units in the passage. */
  from: number;
  to: number;
  wording: Wording;
  /** Its parts: a "not" in one denies nothing in another. */
  clauses: Wording[];
}

const CLAUSE_END = /[,;:]\s|\s(?:but|while|whereas|although|aber|jedoch|während|obwohl|sondern)\s/giu;

/** The sentences of all passages. A line's end ends no sentence, a blank line does. */
export function readSentences(passages: readonly JudgedPassage[], read: ReadWording): ReadSentence[] {
  return passages.flatMap(({ body }, passage) => {
    const running = body.replace(/(?<!\n)\n(?!\n)/g, ' ');
    return sentencesOf(running, languageOf(running)).map(({ from, to }) => {
      const text = body.slice(from, to);
      return { passage, from, to, wording: read(text), clauses: text.split(CLAUSE_END).map(read) };
    });
  });
}

/** How much a stem tells sentences apart: rare ones much, those in every sentence little. */
export function rarity(sentences: readonly ReadSentence[]): (stems: readonly string[]) => number {
  const holders = new Map<string, number>();
  for (const { wording } of sentences) for (const stem of wording.stems) holders.set(stem, (holders.get(stem) ?? 0) + 1);
  return (stems) => {
    const held = Math.max(0, ...stems.map((stem) => holders.get(stem) ?? 0));
    return Math.log(2 + (sentences.length - held + 0.5) / (held + 0.5));
  };
}
