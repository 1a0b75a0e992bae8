import { wordsOf, type Stems } from '../../sources/terms.js';
import { AXES, DOWNWARD_PHRASE, NEGATIONS, REPORTING, RESTRICTIVE, UNIVERSAL, UPWARD_PHRASE } from './signal-words.js';

/** What a piece of text says, as far as words alone tell. */
export interface Wording {
  /** Words of content, each as its stems. */
  content: (readonly string[])[];
  /** All their stems. */
  stems: Set<string>;
  numbers: Set<string>;
  /** For each pair of opposites: 1 or −1, 0 for neither or both. */
  axes: number[];
  negated: boolean;
  universal: boolean;
  restricted: boolean;
}

export type ReadWording = (text: string) => Wording;

export function wordingReader(stems: Stems): ReadWording {
  const reporting = new Set(REPORTING.flatMap((word) => stems.of(word)));
  return (text) => {
    const found = wordsOf(text);
    const words = found.filter((word) => !word.isNumber).map((word) => word.text);
    const content = words.filter((word) => word.length > 1 && !isSignal(word)).map((word) => stems.of(word)).filter((own) => own.length > 0 && !own.some((stem) => reporting.has(stem)));
    const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
    return {
      content, stems: new Set(content.flat()), numbers: new Set(found.filter((word) => word.isNumber).map((word) => word.text)),
      axes: AXES.map(([plus, minus], axis) => Number(has(plus) || (axis === 0 && UPWARD_PHRASE.test(words.join(' ')))) - Number(has(minus) || (axis === 0 && DOWNWARD_PHRASE.test(words.join(' '))))), negated: has(NEGATIONS), universal: has(UNIVERSAL), restricted: has(RESTRICTIVE),
    };
  };
}

function isSignal(word: string): boolean {
  return NEGATIONS.has(word) || UNIVERSAL.has(word) || RESTRICTIVE.has(word) || AXES.some((ends) => ends.some((end) => end.has(word)));
}

/** Whether one says the opposite of the other: lower against higher, consistent against inconsistent. */
export function opposed(claim: Wording, source: Wording): boolean {
  return claim.axes.some((end, axis) => end * source.axes[axis]! < 0) || prefixed(claim, source) || prefixed(source, claim);
}

const DENYING = ['in', 'un', 'im', 'ir', 'non', 'nicht'];

function prefixed(plain: Wording, denying: Wording): boolean {
  return plain.content.some((own) => own.some((stem) => stem.length > 4 && DENYING.some((prefix) => denying.stems.has(prefix + stem))) && !own.some((stem) => denying.stems.has(stem)));
}

/** Shorter stems are found inside of anything. */
const LEAST_PART = 5;

/** Whether the text has the word: itself, or as a German compound of what stands there ("Kohlendioxidemission": "Emission von Kohlendioxid"). */
export function has(there: ReadonlySet<string>, word: readonly string[]): boolean {
  if (word.some((stem) => there.has(stem))) return true;
  return word.some((stem) => stem.length >= 2 * LEAST_PART && isCompoundOf(stem, there)) || word.some((stem) => stem.length >= LEAST_PART && isPartOf(stem, there));
}

function isCompoundOf(stem: string, there: ReadonlySet<string>): boolean {
  const parts = [...there].filter((part) => part.length >= LEAST_PART);
  return parts.some((head) => stem.startsWith(head) && parts.some((tail) => stem.indexOf(tail, head.length) > 0));
}

function isPartOf(stem: string, there: ReadonlySet<string>): boolean {
  return [...there].some((longer) => longer.length >= stem.length + LEAST_PART - 1 && longer.endsWith(stem));
}
