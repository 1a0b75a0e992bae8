import { newStemmer } from 'snowball-stemmers';
import { stopWords } from './stop-words.js';

/** A word of a text as it is compared: numbers in one spelling, letters small. */
export interface Word {
  text: string;
  isNumber: boolean;
}

const HYPHENATED = /(\p{L})[-\u00ad\u2010]\s*\n\s*(?=\p{Ll})/gu;
const WORD = /\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{M}\p{N}]+/gu;
/** Longer runs of letters are garbage of a broken font or a table. */
const LONGEST = 60;
/** Stems remembered: some 10 MB. */
const MEMO_WORDS = 50_000;

/** The words of a text in order: ligatures opened, words at a line's end put together again, "1.234" and "1,234" the same number. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const [found] of text.replace(HYPHENATED, '$1').normalize('NFKC').replaceAll('\u00ad', '').matchAll(WORD)) {
    if (found.length <= LONGEST) words.push(/^\p{N}/u.test(found) && /^[\p{N}.,]+$/u.test(found) ? { text: plainNumber(found), isNumber: true } : { text: found.toLowerCase(), isNumber: false });
  }
  return words;
}

/** "1.234.567" is a whole number, "0,05" a decimal one. */
function plainNumber(found: string): string {
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(found)) return found.replaceAll(',', '');
  if (/^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/.test(found)) return found.replaceAll('.', '').replace(',', '.');
  return found.replaceAll(',', '.');
}

/** What a word is searched by: its German and its English stem, one if they agree; nothing for little words. */
export interface Stems {
  of(word: string): readonly string[];
}

/** Stemming costs more than the search itself, so each word is stemmed once; the memory of it starts afresh when it is full. */
export function createStems(): Stems {
  const german = newStemmer('german');
  const english = newStemmer('english');
  const known = new Map<string, readonly string[]>();
  const stem = (word: string): readonly string[] => {
    if (stopWords.has(word)) return [];
    if (/\p{N}/u.test(word)) return [word];
    return [...new Set([english.stem(word), german.stem(word)])];
  };
  return {
    of(word) {
      const before = known.get(word);
      if (before) return before;
      if (known.size >= MEMO_WORDS) known.clear();
      const stems = stem(word);
      known.set(word, stems);
      return stems;
    },
  };
}
