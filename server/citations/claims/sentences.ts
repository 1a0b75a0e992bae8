import { maskAbbreviations, MASK } from './abbreviations.js';

/** Range of a sentence in a text, without white space around it. */
export interface Sentence {
  from: number;
  to: number;
}

export type Language = 'de' | 'en';

/** A bracket of at most so many characters is read as one piece. */
const BRACKET = /\([^()\n]{1,400}\)|\[[^[\]\n]{1,400}\]/gu;

/**
 * Cuts a text into sentences; `\n` always ends one. `marks` are ranges of citation marks: one that follows a full stop ("robust. (Koch 2004)
 * Then", "robust.[3] Then", "robust.3 Then") belongs to the sentence before it.
 */
export function sentencesOf(text: string, language: Language, marks: readonly Sentence[] = []): Sentence[] {
  const masked = maskMarks(maskBrackets(maskAbbreviations(text)), marks);
  const sentences: Sentence[] = [];
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' });
  for (let from = 0; from < masked.length;) {
    const end = masked.indexOf('\n', from);
    const to = end === -1 ? masked.length : end;
    for (const { segment, index } of segmenter.segment(masked.slice(from, to))) pushTrimmed(sentences, text, from + index, from + index + segment.length);
    from = to + 1;
  }
  return sentences;
}

/** German when it has more German little words than English ones. */
export function languageOf(text: string): Language {
  const sample = text.slice(0, 60_000);
  const count = (words: RegExp) => sample.match(words)?.length ?? 0;
  return count(/\b(?:der|die|das|und|ist|nicht|eine|einer|wird|werden)\b/gi) > count(/\b(?:the|and|of|is|are|to|that|which|was)\b/gi) ? 'de' : 'en';
}

/** Ends of sentences inside a bracket end none, unless the bracket itself begins a sentence. */
function maskBrackets(text: string): string {
  return text.replace(BRACKET, (bracket, at: number) => {
    const own = /(?:^|\n|[.!?]["'”“’»]?\s)$/u.test(text.slice(Math.max(0, at - 4), at)) && /[.!?]\)$/.test(bracket);
    return own ? bracket : bracket.replace(/[.!?]/gu, MASK);
  });
}

/** Moves the full stop before a mark to the mark's last character. */
function maskMarks(text: string, marks: readonly Sentence[]): string {
  const characters = marks.length > 0 ? [...splitUnits(text)] : [];
  for (const mark of marks) {
    const open = text.charAt(mark.from - 1) === '(' || text.charAt(mark.from - 1) === '[' ? mark.from - 1 : mark.from;
    const start = bracketStart(text, open);
    const stop = stopBefore(text, start);
    // "… here. von der Heide (1990) shows": a name may begin a sentence in lower case.
    if (stop !== undefined && start === mark.from && /\p{Ll}/u.test(text.charAt(start))) characters[start] = 'V';
    const end = bracketEnd(text, mark.to);
    if (stop === undefined || !/^\s?(?:["'“„(]?\p{Lu}|$|\n)/u.test(text.slice(end, end + 4))) continue;
    if (text.slice(start, end).includes('\n')) continue;
    characters[stop] = MASK;
    for (let i = stop + 1; i < end - 1; i++) if (/[([]/.test(characters[i] ?? '')) characters[i] = MASK;
    characters[end - 1] = '.';
  }
  return marks.length > 0 ? characters.join('') : text;
}

function* splitUnits(text: string): Generator<string> {
  for (let i = 0; i < text.length; i++) yield text.charAt(i);
}

/** Start of the bracket that holds the position, if one opens shortly before it in the same sentence. */
function bracketStart(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - 300), at);
  const open = Math.max(before.lastIndexOf('('), before.lastIndexOf('['));
  const close = Math.max(before.lastIndexOf(')'), before.lastIndexOf(']'), before.lastIndexOf('\n'));
  return open > close ? at - before.length + open : at;
}

function bracketEnd(text: string, at: number): number {
  const behind = /^[^()[\]\n]{0,300}[)\]]/u.exec(text.slice(at, at + 301));
  return behind && bracketStart(text, at) !== at ? at + behind[0].length : at;
}

function stopBefore(text: string, at: number): number | undefined {
  const match = /[.!?](?=["'”“’»]{0,2}\s?$)/u.exec(text.slice(Math.max(0, at - 4), at));
  return match ? Math.max(0, at - 4) + match.index : undefined;
}

function pushTrimmed(sentences: Sentence[], text: string, from: number, to: number): void {
  const segment = text.slice(from, to);
  const start = from + (segment.length - segment.trimStart().length);
  const end = to - (segment.length - segment.trimEnd().length);
  if (end > start) sentences.push({ from: start, to: end });
}
