import type { Line } from './lines.js';

/** A footnote at the foot of a page. Numbers look like exponents, so it is one only if the text above carries its number. */
export interface Footnote {
  page: number;
  number: number;
  lines: Line[];
}

interface WithFootnotes {
  body: Line[];
  notes: Footnote[];
}

/** So many lines at a page's foot may be notes. */
const MAX_LINES = 60;
const MAX_MISSED = 40;
const NOTE_START = /^(?<number>\d{1,3})\)?\s?(?=["'“„(]?(?:\p{L}{2}|[AI]\s\p{L}{2}))/u;

/** Takes the footnotes out of the lines, page by page. */
export function splitFootnotes(lines: readonly Line[]): WithFootnotes {
  const result: WithFootnotes = { body: [], notes: [] };
  for (let from = 0; from < lines.length;) {
    let to = from;
    while (lines[to]?.page === lines[from]?.page) to++;
    const page = lines.slice(from, to);
    const start = firstNote(page, result.notes.at(-1)?.number ?? 0);
    result.body.push(...page.slice(0, start));
    result.notes.push(...notesOf(page.slice(start)));
    from = to;
  }
  return result;
}

/** Index of the line where the notes begin: from there to the page's end their numbers grow by one, and the text above refers to each. */
function firstNote(page: readonly Line[], last: number): number {
  for (let i = Math.max(1, page.length - MAX_LINES); i < page.length; i++) {
    const numbers = page.slice(i).flatMap((line) => noteNumber(line) ?? []);
    if (noteNumber(page[i]!) === undefined || !ascending(numbers) || !follows(numbers[0]!, last)) continue;
    const above = page.slice(0, i).map((line) => line.text).join('\n');
    if (numbers.every((number) => refersTo(above, number))) return i;
  }
  return page.length;
}

/** Counting goes on from page to page, or begins anew. Those of a page or two may have been missed. */
function follows(number: number, last: number): boolean {
  return number === 1 || (number > last && number - last <= MAX_MISSED + 1);
}

function noteNumber(line: Line): number | undefined {
  const number = NOTE_START.exec(line.text)?.groups?.number;
  return number === undefined ? undefined : Number(number);
}

function ascending(numbers: readonly number[]): boolean {
  return numbers.every((number, i) => i === 0 || number === numbers[i - 1]! + 1);
}

/** A number set directly behind a word, a bracket or a full stop; `x2` and `3.14` are none. */
export const NOTE_REFERENCE = /(?<=[\p{Ll}]{2}|[^\d\s][.,;:!?]|[)\]"'”“’»])(?<number>\d{1,3})(?=[\s.,;:!?)\]”“»]|$)/gu;

function refersTo(text: string, number: number): boolean {
  return [...text.matchAll(NOTE_REFERENCE)].some((match) => Number(match.groups?.number) === number);
}

function notesOf(lines: readonly Line[]): Footnote[] {
  const notes: Footnote[] = [];
  for (const line of lines) {
    const number = noteNumber(line);
    if (number !== undefined) notes.push({ page: line.page, number, lines: [line] });
    else notes.at(-1)?.lines.push(line);
  }
  return notes;
}
