/** A claim as the thesis words it, and the mark by which it cites. */
export interface Claim {
  /** One sentence, as one reads it. */
  text: string;
  /** "Zeileis (2004)", "(vgl. Koch 2010, S. 4)", "[12]": exactly as it stands in `text`. */
  mark?: string;
}

const YEAR = String.raw`(?:1[6-9]|20)\d\d[a-z]?`;
const NAME = String.raw`(?:(?:von|van|de|der|den|la|le|du)\s+){0,2}\p{Lu}[\p{L}'’-]+`;
const AUTHORS = String.raw`(?:${NAME}(?:\s*(?:,|/|&|;|\bund\b|\band\b)\s*(?:(?:und|and|&)\s+)?${NAME}){0,5}(?:\s+et al\.?|\s+u\. ?a\.)?\s*)?`;
const NARRATIVE = new RegExp(String.raw`${AUTHORS}[([]\s*${YEAR}[^()[\]]{0,60}[)\]]`, 'gu');
const PARENTHETIC = new RegExp(String.raw`[([][^()[\]]{0,300}?\p{L}[^()[\]]{0,20}?\b${YEAR}(?!\d)[^()[\]]{0,300}[)\]]`, 'gu');
const NUMERIC = /\[\s*\d{1,3}(?:\s*[-–,;]\s*\d{1,3})*(?:\s*,\s*(?:S|p|pp)\.[^\]]{0,30})?\s*\]/gu;
const ALPHA = /\[\s*\p{Lu}[\p{L}+]{0,6}\d\d[a-z]?(?:[^\]]{0,60})\]/gu;

/** What the claim says, without who it cites: names and years of a mark would only find lists of references. */
export function withoutMarks({ text, mark }: Claim): string {
  const own = mark ? text.replaceAll(mark, ' ') : text;
  const bare = [PARENTHETIC, NARRATIVE, NUMERIC, ALPHA].reduce((left, pattern) => left.replace(pattern, ' '), own).replace(/[([]\s*[)\]]/g, ' ').replace(/\s+/g, ' ').trim();
  // A sentence that is nothing but its mark is still looked for by its names.
  return /\p{L}{3}/u.test(bare) ? bare : text;
}
