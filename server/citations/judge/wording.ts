import { wordsOf, type Stems } from '../../sources/terms.js';
import { DOWNWARD, NEGATIONS, REPORTING, RESTRICTIVE, UNIVERSAL, UPWARD } from './signal-words.js';

/** What a sentence says, as far as words alone tell. */
export interface Wording {
  /** Words of content, each as its stems. */
  content: (readonly string[])[];
  /** All their stems. */
  stems: Set<string>;
  numbers: Set<string>;
  up: boolean;
  down: boolean;
  negated: boolean;
  universal: boolean;
  restricted: boolean;
}

export type ReadWording = (text: string) => Wording;

export function wordingReader(stems: Stems): ReadWording {
  const stemSet = (words: readonly string[]) => new Set(words.flatMap((word) => stems.of(word)));
  const up = new Set(UPWARD);
  const down = new Set(DOWNWARD);
  const reporting = stemSet(REPORTING);
  return (text) => {
    const found = wordsOf(text);
    const words = found.filter((word) => !word.isNumber).map((word) => word.text);
    const signal = (word: string) => up.has(word) || down.has(word) || NEGATIONS.has(word) || UNIVERSAL.has(word) || RESTRICTIVE.has(word);
    const content = words.filter((word) => word.length > 1 && !signal(word)).map((word) => stems.of(word)).filter((own) => own.length > 0 && !own.some((stem) => reporting.has(stem)));
    return {
      content, stems: new Set(content.flat()),
      numbers: new Set(found.filter((word) => word.isNumber).map((word) => word.text)),
      up: words.some((word) => up.has(word)), down: words.some((word) => down.has(word)),
      negated: words.some((word) => NEGATIONS.has(word)), universal: words.some((word) => UNIVERSAL.has(word)), restricted: words.some((word) => RESTRICTIVE.has(word)),
    };
  };
}
