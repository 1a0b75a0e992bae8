import type { FoundMark, Lookalike } from './found-mark.js';
import { isLocator } from './locator.js';

const BRACKET = /\[(?<inner>[^[\]\n]{1,80})\]/gu;
const NUMBER = /^\d{1,4}$/;
const RANGE = /^(?<first>\d{1,4})\s?[–—-]\s?(?<last>\d{1,4})$/u;
const ALPHA = /^[\p{L}+]{1,12}(?:\d\d|\d{4})[a-z]?$/u;
const PREFIX = /^(?:[Vv]gl\.|[Ss]iehe(?: auch)?|[Ss]ee(?: also)?|[Cc]f\.|e\.g\.,?|z\. ?B\.|u\. ?a\.)\s/u;
/** A range wider than this is an interval. */
const MAX_RANGE = 30;
/** So many words with a number set directly behind them, and none set apart, are a style and no subscripts. */
const ATTACHED_STYLE = 3;

interface KnownLabels {
  /** Of the list of references; empty if it is not labelled. */
  labels: ReadonlySet<string>;
  /** There is no list of references at all: then every label counts, and none is resolved. */
  any: boolean;
  /** Whether a line of the page begins here. */
  startsLine: (at: number) => boolean;
}

/** Finds [1], [1, 2], [1–3], [1, S. 4], [KR06, AB12]: only labels that the list of references has count. */
export function findLabelMarks(text: string, known: KnownLabels): { marks: FoundMark[]; lookalikes: Lookalike[] } {
  const marks: FoundMark[] = [];
  const lookalikes: Lookalike[] = [];
  const attached = writesAttached(text);
  for (const match of text.matchAll(BRACKET)) {
    const parts = readParts(match.groups?.inner ?? '');
    if (!parts) continue;
    const at = { from: match.index, to: match.index + match[0].length };
    const reason = lookalikeReason(text, at, parts, known, attached);
    if (reason) lookalikes.push({ reason, ...at });
    else marks.push(...parts.map((part) => toMark(part, at)));
  }
  return { marks, lookalikes };
}

interface Part {
  label: string;
  locator: string | null;
  numeric: boolean;
}

/** The labels between the brackets; undefined if anything else stands there. */
function readParts(inner: string): Part[] | undefined {
  const parts: Part[] = [];
  for (const piece of inner.split(/[,;]/u)) {
    const part = piece.trim().replace(PREFIX, '');
    const range = RANGE.exec(part);
    const last = parts.at(-1);
    if (isLocator(part) && last) last.locator = part;
    else if (range) {
      const numbers = numbersOf(range);
      if (!numbers) return undefined;
      parts.push(...numbers.map((label) => ({ label, locator: null, numeric: true })));
    } else if (NUMBER.test(part) || ALPHA.test(part)) parts.push({ label: part, locator: null, numeric: NUMBER.test(part) });
    else return undefined;
  }
  return parts.length > 0 ? parts : undefined;
}

function numbersOf(range: RegExpExecArray): string[] | undefined {
  const first = Number(range.groups?.first);
  const last = Number(range.groups?.last);
  if (last <= first || last - first > MAX_RANGE) return undefined;
  return Array.from({ length: last - first + 1 }, (_, i) => String(first + i));
}

function lookalikeReason(text: string, at: { from: number; to: number }, parts: Part[], known: KnownLabels, attached: boolean): Lookalike['reason'] | undefined {
  const before = text.slice(Math.max(0, at.from - 40), at.from);
  const numeric = parts.every((part) => part.numeric);
  if (numeric && /[\p{N})\]_$]$/u.test(before)) return 'subscript';
  if (numeric && /\p{L}$/u.test(before) && !(attached && NATURAL_WORD.test(before))) return 'subscript';
  if (numeric && known.startsLine(at.from) && /^\s(?:[\d"'-]|TRUE|FALSE|NA|NULL)/u.test(text.slice(at.to, at.to + 6))) return 'program_output';
  if (numeric && parts.length === 2 && (parts.some((part) => part.label === '0') || INTERVAL.test(before))) return 'interval';
  if (known.any || parts.some((part) => known.labels.has(part.label))) return undefined;
  return known.labels.size === 0 ? 'bibliography_not_labelled' : 'label_not_in_bibliography';
}

const INTERVAL = /(?:intervalls?|interval|range|bereichs?|wertebereich|domain|support|∈|zwischen|between)\s?(?:von|of|from)?\s?$/iu;
const NATURAL_WORD = /(?<![\p{L}\p{N}_.$])\p{L}?\p{Ll}{3,}$/u;

function writesAttached(text: string): boolean {
  const apart = /\p{L}\s\[\d{1,3}(?:[,–-]\s?\d{1,3})*\]/u.test(text);
  return !apart && [...text.matchAll(/(?<=\p{Ll}{4})\[\d{1,3}\](?=[\s.,;])/gu)].length >= ATTACHED_STYLE;
}

function toMark(part: Part, at: { from: number; to: number }): FoundMark {
  return { kind: part.numeric ? 'number' : 'label', ...at, cites: { by: 'label', label: part.label }, locator: part.locator };
}
