import { FAMILY } from './names.js';
import { YEAR_TOKEN, type Section } from './bibliography-section.js';
import type { Line } from './lines.js';

/** Lines of one entry, with its label: "[KR06]" is KR06, "[3]" and "3." are 3. */
export interface RawEntry {
  label: string | null;
  lines: Line[];
}

const BRACKETED = /^[[(](?<label>\d{1,4}|[\p{L}+]{1,12}\s?(?:\d\d|\d{4})[a-z]?)[\])]\.?(?:\s|$)/u;
const NUMBERED = /^(?<label>\d{1,4})[.)]?\s+(?=["“„']?\p{Lu})/u;

/** Cuts a list of references into its entries. */
export function splitEntries(lines: readonly Line[], section: Section): RawEntry[] {
  const own = lines.slice(section.start, section.end);
  for (const pattern of [BRACKETED, NUMBERED]) {
    if (isLabelled(own, pattern)) return splitAt(own, (line) => labelOf(line, pattern), pattern);
  }
  return splitAt(own, (line, i) => (startsEntry(own, i) ? null : undefined));
}

function labelOf(line: Line, pattern: RegExp): string | undefined {
  return pattern.exec(line.text)?.groups?.label;
}

/** The list starts with a label, and numbers ascend from there: a year at a line's start is no label. */
function isLabelled(lines: readonly Line[], pattern: RegExp): boolean {
  const first = lines.slice(0, 3).findIndex((line) => labelOf(line, pattern) !== undefined);
  if (first === -1) return false;
  const labels = lines.flatMap((line) => labelOf(line, pattern) ?? []);
  return pattern === BRACKETED || (Number(labels[0]) <= 1 && (labels.length === 1 || labels.includes('2')));
}

function splitAt(lines: readonly Line[], label: (line: Line, i: number) => string | null | undefined, pattern?: RegExp): RawEntry[] {
  const entries: RawEntry[] = [];
  let last = 0;
  lines.forEach((line, i) => {
    const found = label(line, i);
    const next = Number(found);
    const inOrder = pattern !== NUMBERED || next === last + 1;
    if (found !== undefined && inOrder) {
      entries.push({ label: found, lines: [line] });
      last = next;
    } else entries.at(-1)?.lines.push(line);
  });
  return entries;
}

const GIVEN = "\\p{Lu}(?:\\.|\\p{L}+\\.?)";
const AUTHOR_STARTS = [
  `${FAMILY}(?:\\s${FAMILY})?,\\s${GIVEN}`, // Müller, H. / Müller, Hans
  `${FAMILY}(?:\\s\\p{Lu}[\\p{L}'’-]+)?\\s\\p{Lu}{1,4}(?:,|\\s\\(|:|\\.)`, // Zeileis A, / Zeileis A (
  `(?:\\p{Lu}\\.[\\s-]?){1,3}${FAMILY}(?:,|\\s(?:and|und|&|\\()|:|\\.)`, // A. Zeileis,
  `\\p{Lu}[^().]{1,90}\\((?:Hrsg\\.|[Ee]ds?\\.|\\d{4}|n\\. ?d\\.|o\\. ?J\\.)`, // R Core Team (2018)
];
const AUTHOR_START = new RegExp(`^(?:${AUTHOR_STARTS.join('|')})`, 'u');
const PERSON_START = new RegExp(`^(?:${AUTHOR_STARTS.slice(0, 3).join('|')})`, 'u');
const NOT_AN_AUTHOR = /^(?:In|URL|Available|Verfügbar|Abgerufen|Accessed|Retrieved|Online|Springer|Cambridge|Oxford|Proceedings|Journal)\b/u;
/** Lines within which an entry that begins here must show its year. */
const YEAR_WITHIN = 5;

function startsEntry(lines: readonly Line[], i: number): boolean {
  const line = lines[i]!;
  const above = lines[i - 1];
  if (!AUTHOR_START.test(line.text) && !(above && isOwnParagraph(lines, i))) return above === undefined;
  if (NOT_AN_AUTHOR.test(line.text)) return false;
  if (above && !endsEntry(above, line)) return false;
  return above === undefined || yearNear(lines, i);
}

/** A list set with space between its entries: a paragraph that begins with a capital and holds its year early. */
function isOwnParagraph(lines: readonly Line[], i: number): boolean {
  return lines[i]!.after === 'paragraph' && /^\p{Lu}/u.test(lines[i]!.text) && /\((?:1[5-9]|20)\d\d[a-z]?\)/.test(lines[i]!.text);
}

function endsEntry(above: Line, line: Line): boolean {
  if (/(?:[,;:&-]|\b(?:and|und|in|In|of|the|der|die|von|doi:|pp?\.|S\.|Hrsg\.|eds?\.))$/u.test(above.text)) return false;
  if (PERSON_START.test(line.text) && /\((?:1[5-9]|20)\d\d[a-z]?\)/.test(line.text)) return true;
  return line.after === 'paragraph' || /[.\])”"]$|\d$|\S*\/\S*$/.test(above.text);
}

function yearNear(lines: readonly Line[], i: number): boolean {
  for (let at = i; at < Math.min(lines.length, i + YEAR_WITHIN); at++) {
    if (YEAR_TOKEN.test(lines[at]!.text)) return true;
  }
  return false;
}
