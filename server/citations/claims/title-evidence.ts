import { foldText } from './names.js';

interface TitleEvidence {
  /** 0 to 1: how much of the title stands there, in order. */
  score: number;
  exact: boolean;
  /** It begins within the first words. */
  atTop: boolean;
  /** Of the title. */
  words: number;
}

const NOTHING: TitleEvidence = { score: 0, exact: false, atTop: false, words: 0 };
/** A title begins within so many words of its document: a journal's head, a cover, the authors stand before it. */
const TITLE_BEGINS_WITHIN = 90;
const TOP = 12;
/** Score of a title that stands in the middle of a text. */
const IN_A_SENTENCE = 0.5;
/** Share of the title's words, in order, below which it is another title. */
const MIN_SHARE = 0.8;

/** Looks for a title at the head of a document (see `headWords`). Hyphens, case, accents and line ends do not matter. */
export function titleEvidence(title: string, head: readonly HeadWord[]): TitleEvidence {
  const words = wordsOfText(title);
  const whole = search(words, head);
  if (whole.score > 0) return whole;
  const main = wordsOfText(title.split(/[:–—]|\s-\s|\?\s|\.\s/u)[0] ?? '');
  if (main.length < 3 || main.length === words.length) return NOTHING;
  const found = search(main, head);
  return found.exact ? { ...found, score: 0.8, exact: false } : NOTHING;
}

export function wordsOfText(text: string): string[] {
  return foldText(joinBroken(text)).replace(/[-‐'’_]/gu, ' ').match(/[\p{L}\p{N}]+/gu) ?? [];
}

function joinBroken(text: string): string {
  return text.replace(/[-‐\u00ad]\n/gu, '');
}

export interface HeadWord {
  word: string;
  /** First of its line. */
  starts: boolean;
  /** Last of its line, or before a colon or the like. */
  ends: boolean;
}

/** Words of a document's beginning, as `titleEvidence` needs them: read once for all titles. */
export function headWords(head: string): HeadWord[] {
  return joinBroken(head).split('\n').flatMap((line) => {
    const words = [...foldText(line).replace(/[-‐'’_]/gu, ' ').matchAll(/(?<word>[\p{L}\p{N}]+)(?<end>[^\p{L}\p{N}]*)/gu)];
    return words.map((match, i) => ({ word: match.groups?.word ?? '', starts: i === 0, ends: i === words.length - 1 || /[:.?!*†–—]/u.test(match.groups?.end ?? '') }));
  });
}

function search(title: readonly string[], words: readonly HeadWord[]): TitleEvidence {
  if (title.length < 2 || title.join('').length < 10) return NOTHING;
  let best = NOTHING;
  for (let from = 0; from < Math.min(words.length, TITLE_BEGINS_WITHIN); from++) {
    if (citesHere(words, from)) continue;
    const evidence = compare(title, words, from);
    if (evidence.score > best.score) best = evidence;
  }
  return best;
}

/** "Comment on …", "Review of …", "Rezension zu …" is about the work, not the work. */
function citesHere(words: readonly HeadWord[], from: number): boolean {
  const before = words.slice(Math.max(0, from - 3), from).map(({ word }) => word).join(' ');
  return /(?:comments? on|reply to|review of|response to|discussion of|erratum to|kommentar zu|rezension (?:zu|von)|replik auf|version of|entgegnung auf)(?: the| a| an| den| dem| der)?$/u.test(before);
}

function compare(title: readonly string[], words: readonly HeadWord[], from: number): TitleEvidence {
  const last = endOfTitle(title.join(''), words, from);
  if (last !== undefined) return { score: standsAlone(words, from, last) ? 1 : IN_A_SENTENCE, exact: true, atTop: from < TOP, words: title.length };
  if (title.length < 5 || !words[from]!.starts || words[from]!.word !== title[0]) return NOTHING;
  const window = words.slice(from, from + title.length + 2).map(({ word }) => word);
  const share = commonInOrder(title, window) / title.length;
  return share < MIN_SHARE ? NOTHING : { score: share * 0.85, exact: false, atTop: from < TOP, words: title.length };
}

/** A title has lines of its own; in a sentence it is another document's. */
function standsAlone(words: readonly HeadWord[], from: number, last: number): boolean {
  return words[from]!.starts && words[last]!.ends;
}

/** Index of the title's last word, if it stands here letter by letter: "Soft ware" and "software" are the same. */
function endOfTitle(title: string, words: readonly HeadWord[], from: number): number | undefined {
  let at = 0;
  for (let i = from; i < words.length && at < title.length; i++) {
    const { word } = words[i]!;
    if (!title.startsWith(word, at)) return undefined;
    at += word.length;
    if (at === title.length) return i;
  }
  return undefined;
}

/** Length of the longest common subsequence. */
function commonInOrder(a: readonly string[], b: readonly string[]): number {
  let previous = new Array<number>(b.length + 1).fill(0);
  for (const word of a) {
    const row = [0];
    b.forEach((other, j) => row.push(word === other ? previous[j]! + 1 : Math.max(previous[j + 1]!, row[j]!)));
    previous = row;
  }
  return previous[b.length] ?? 0;
}
