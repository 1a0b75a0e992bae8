import { maskAbbreviations, MASK } from './abbreviations.js';

/** Range of a sentence in a text, without white space around it. */
export interface Sentence {
  from: number;
  to: number;
}

export type Language = 'de' | 'en';

/** What is longer is a table or a text without full stops: it is cut at a word. */
const MAX_CHARS = 2000;
/** Characters that are cut into sentences at once. */
const WINDOW = 3 * MAX_CHARS;
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
    for (const piece of piecesOf(masked, from, to, segmenter)) pushTrimmed(sentences, text, piece.from, piece.to);
    from = to + 1;
  }
  return sentences;
}

/** The segmenter copies the whole of its text with every segment: it gets a window at a time, and the next begins at the sentence that this one cut. */
function* piecesOf(text: string, from: number, to: number, segmenter: Intl.Segmenter): Generator<Sentence> {
  for (let at = from; at < to;) {
    const end = Math.min(to, at + WINDOW);
    const segments = [...segmenter.segment(text.slice(at, end))];
    if (end < to && segments.length > 1) segments.pop();
    const start = at;
    for (const { segment, index } of segments) {
      at = start + index + segment.length;
      yield { from: start + index, to: at };
    }
  }
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
  if (marks.length === 0) return text;
  const characters = [...splitUnits(text)];
  marks.forEach((mark, i) => {
    startInLowerCase(characters, mark.from);
    const start = bracketStart(text, mark.from);
    const stop = stopBefore(text, start);
    const end = bracketEnd(text, mark.to);
    const begins = marks[i + 1]?.from === end + 1 || /^\s?(?:["'“„(]?\p{Lu}|$|\n)/u.test(text.slice(end, end + 4));
    if (stop === undefined || !begins || text.slice(start, end).includes('\n')) return;
    characters[stop] = MASK;
    for (let at = stop + 1; at < end - 1; at++) if (/[([]/.test(characters[at]!)) characters[at] = MASK;
    characters[end - 1] = '.';
  });
  return characters.join('');
}

/** "… here. von der Heide (1990) shows": a name may begin a sentence in lower case. */
function startInLowerCase(characters: string[], at: number): void {
  if (/\s/.test(characters[at - 1] ?? '') && /[.!?]/.test(characters[at - 2] ?? '') && /\p{Ll}/u.test(characters[at]!)) characters[at] = 'V';
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
  let start = from;
  while (to - start > MAX_CHARS) {
    const space = text.lastIndexOf(' ', start + MAX_CHARS);
    const end = space > start ? space : start + MAX_CHARS;
    pushOne(sentences, text, start, end);
    start = end;
  }
  pushOne(sentences, text, start, to);
}

function pushOne(sentences: Sentence[], text: string, from: number, to: number): void {
  const segment = text.slice(from, to);
  const start = from + (segment.length - segment.trimStart().length);
  const end = to - (segment.length - segment.trimEnd().length);
  if (end > start) sentences.push({ from: start, to: end });
}
