/** Stands for a full stop that ends no sentence. One code unit, like the stop: offsets stay. */
export const MASK = '\u00b7';

/** Never the last word of a sentence. */
const WORDS = [
  'vgl', 'bzw', 'ca', 'resp', 'sog', 'evtl', 'ggf', 'inkl', 'exkl', 'insb', 'insbes', 'bspw', 'engl', 'zit', 'anm', 'abb', 'tab', 'kap', 'abschn', 'aufl', 'bd', 'bde',
  'hrsg', 'jg', 'nr', 'prof', 'dr', 'dipl', 'fn', 'rn', 'rz', 'gl', 'verf', 'diss', 'mio', 'mrd', 'st', 'al', 'cf', 'figs?', 'eqs?', 'sect?', 'ch', 'chap', 'vol', 'eds?', 'pp',
  'approx', 'viz', 'vs', 'mr', 'mrs', 'ms', 'jr', 'refs?', 'thm',
];
const WORD = new RegExp(`(?<![\\p{L}\\p{N}])(?:${WORDS.join('|')})\\.(?!\\n|$)`, 'giu');
/** "no. 4", "Art. 5": an abbreviation only before a number. */
const BEFORE_NUMBER = /(?<![\p{L}\p{N}])(?:no|art|abs|def|prop|str|ref|h|s|p|t)\.(?=\s?\d)/giu;
/** "z. B.", "d. h.", "u. a.", "e.g." */
const SMALL_LETTER = /(?<![\p{L}\p{N}])\p{Ll}\.(?=\s?[\p{L}\p{N}(,;:)])/gu;
/** The letter behind: the "B." of "z. B.", the "Ä." of "o. Ä." */
const SECOND_LETTER = /(?<=(?<!\p{L})\p{Ll}\u00b7\s?)\p{L}\.(?=\s?[\p{L}\p{N}(,;:)])/gu;
const STARTERS = 'The|This|That|These|Those|There|Then|It|In|We|For|As|If|When|To|On|At|An|However|Here|Moreover|Die|Der|Das|Dies|Diese|Dieser|Es|Im|Wir|Ein|Eine|Bei|Mit|Auch|Daher|Dabei|Zudem|Für|Hier';
/** "K. V. Mardia": initials, not "the language R. The". */
const INITIAL = new RegExp(`(?<![\\p{L}\\p{N}])\\p{Lu}\\.(?=-?\\s?[\\p{L},;:)&])(?!\\s(?:${STARTERS})\\s)`, 'gu');
/** "3. Auflage", "12. März" */
const ORDINAL = /(?<![\p{L}\p{N}.,])\d{1,2}\.(?=\s(?:Auflage|Aufl|Kapitel|Abschnitt|Jahrhundert|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Semester|Teil|Stufe|Schritt|Quartal|Klasse|Platz|Absatz|Satz))/gu;
/** "5.1. Title" and "2. Second" at the start of a paragraph. */
const NUMBERING = /^(?:\d{1,2}\.){1,4}(?=\s)/gmu;
const FOLLOWING_PAGES = /(?<=\d)\s?ff?\.(?=\s?[),;])/gu;

/** The text with full stops that end no sentence masked; of the same length. */
export function maskAbbreviations(text: string): string {
  const mask = (found: string) => found.replaceAll('.', MASK);
  return [WORD, BEFORE_NUMBER, SMALL_LETTER, SECOND_LETTER, INITIAL, ORDINAL, NUMBERING, FOLLOWING_PAGES].reduce((masked, pattern) => masked.replace(pattern, mask), text);
}
