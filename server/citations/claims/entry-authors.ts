/** Who wrote a work. */
export interface Authors {
  /** Family names in order, as printed; of an organisation its whole name. */
  authors: string[];
  /** The author is an organisation or could not be read as persons: `authors` holds one whole name. */
  corporate: boolean;
  /** Abbreviations that the entry gives for its author: "World Health Organization (WHO)". */
  aliases: string[];
}

/** "A.", "Ch.-M.", "KM"; "Ma" is a name. */
const INITIALS = /^(?:(?:\p{Lu}\p{Ll}?\.[\s-]?){1,5}|\p{Lu}(?:[\s-]?\p{Lu}){0,3})$/u;
const PERSON_BEHIND = /^(?<family>\p{L}[\p{L}\p{M}'’ -]*?)\s(?<initials>\p{Lu}{1,4})$/u; // Zeileis A
const PERSON_BEFORE = /^(?:\p{Lu}\p{Ll}?\.[\s-]?){1,4}(?<family>\p{L}[\p{L}\p{M}'’ -]+)$/u; // A. Zeileis
const PARTICLE = /^(?:van|von|vom|zu|zur|de|der|den|del|della|di|da|dos|du|la|le|ter|ten|el|al)$/iu;
const SUFFIX = /^(?:Jr|Sr|II|III|IV)\.?$/u;

/** Reads the family names before a year or title. */
export function authorsOf(head: string): Authors {
  const aliases = [...head.matchAll(/\((?<alias>\p{Lu}[\p{Lu}\d&-]{1,9})\)/gu)].map((match) => match.groups?.alias ?? '');
  const text = head.replace(/\([^)]*\)?/gu, ' ').replace(/\s+/g, ' ').replace(/[\s.,:;]+$/u, (end) => (/\p{Lu}\.$/u.test(head.trim()) ? '.' : end.replace(/[\s.,:;]/g, ''))).trim();
  const names = familyNames(text);
  if (names.length > 0) return { authors: names, corporate: false, aliases };
  return { authors: text === '' ? [] : [text], corporate: true, aliases };
}

function familyNames(text: string): string[] {
  const plain = text.replace(/,?\s*(?:et\.? al\.?|u\. ?a\.|Hrsg\.?|[Ee]ds?\.?)\s*$/u, '');
  if (/;|\s?\/\s?/.test(plain)) return plain.split(/\s*[;/]\s*|\s+(?:and|und|&)\s+/u).flatMap((person) => familyOf(person, true) ?? []);
  const tokens = plain.split(/\s*,?\s+(?:and|und|sowie)\s+|\s*,?\s*&\s*|\s*,\s*/u).filter((token) => token !== '' && !SUFFIX.test(token));
  return fromTokens(tokens);
}

/** Tokens between commas: "Zeileis A", "A. Zeileis", or "Zeileis" followed by "A." or "Achim". */
function fromTokens(tokens: readonly string[]): string[] {
  const names: string[] = [];
  let inverted = false;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const next = tokens[i + 1];
    if (INITIALS.test(token) && i > 0) continue;
    const alone = familyOf(token, false);
    if (alone !== undefined) names.push(alone);
    else if (next !== undefined && isGiven(next, i === 0 || inverted)) {
      names.push(token);
      inverted = true;
      i++;
    } else if (i === 0 && (tokens.length === 1 || !isName(token))) return [];
    else names.push(lastName(token));
  }
  return names;
}

function isGiven(token: string, loose: boolean): boolean {
  return INITIALS.test(token) || (loose && /^\p{Lu}\p{L}+(?:[\s-]\p{Lu}[\p{L}.]*)*$/u.test(token) && !PERSON_BEHIND.test(token));
}

function isName(token: string): boolean {
  return /^(?:\p{Ll}+\s)*\p{Lu}[\p{L}'’-]+(?:\s\p{Lu}[\p{L}'’.-]+){0,2}$/u.test(token);
}

/** Of one person's name: "Zeileis A", "A. Zeileis"; with `commas` also "Zeileis, Achim" and "Achim Zeileis". */
function familyOf(person: string, commas: boolean): string | undefined {
  if (commas && person.includes(',')) return person.split(',')[0]?.trim();
  const match = PERSON_BEHIND.exec(person) ?? PERSON_BEFORE.exec(person);
  if (match) return match.groups?.family?.trim();
  return commas && isName(person) ? lastName(person) : undefined;
}

/** "Hans von der Heide" is "von der Heide". */
function lastName(person: string): string {
  const words = person.split(' ');
  let from = words.length - 1;
  while (from > 0 && PARTICLE.test(words[from - 1]!)) from--;
  return words.slice(from).join(' ');
}
