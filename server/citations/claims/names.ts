/** Words that begin a family name. */
const PARTICLES = 'van|von|vom|zu|zur|zum|de|der|den|del|della|di|da|dos|du|la|le|ter|ten|el|al|bin|Van|Von|De|Der|Den|Del|Della|Di|Da|Dos|Du|La|Le|Ter|El|Al';
const WORD = "\\p{Lu}[\\p{L}\\p{M}'’‐-]*\\p{L}";
const INITIALS = '(?:\\p{Lu}\\.[\\s-]?){0,3}';

/** Source of a pattern for one family name as a text writes it, particles and initials included. Needs the flag u. */
export const FAMILY = `${INITIALS}(?:(?:${PARTICLES})\\s){0,3}(?:[dDOlL]['’])?${WORD}`;

/** Between the last two names of a list. */
export const AND = '(?:,?\\s(?:and|und|sowie|u\\.|et)\\s|,?\\s?&\\s?|\\s?/\\s?)';
export const ET_AL = ',?\\s(?:et\\.?\\sal\\.?|u\\.\\s?a\\.|and\\s(?:others|colleagues)|und\\s(?:andere|Kollegen|Mitarbeiter(?:innen)?))';

const particleStart = new RegExp(`^(?:${PARTICLES})\\s`, 'u');

/** The same for "Müller", "Mueller" and "MÜLLER", without initials: what two spellings of a name have in common. */
export function nameKey(name: string): string {
  return foldText(name.replace(/^(?:\p{Lu}\.[\s-]?)+/u, '')).replace(/ae/g, 'a').replace(/oe/g, 'o').replace(/ue/g, 'u').replace(/[^\p{L}\p{N}]+/gu, '');
}

/** The key without "van", "de", "Jr." and the like: some texts leave them out. */
export function bareNameKey(name: string): string {
  let bare = name.replace(/,?\s(?:[JS]r\.?|I{2,3})$/u, '');
  while (particleStart.test(bare)) bare = bare.replace(particleStart, '');
  return nameKey(bare);
}

/** Lower case, without accents and ligatures. */
export function foldText(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}+/gu, '').toLowerCase().replace(/ß/g, 'ss').replace(/ø/g, 'o').replace(/æ/g, 'ae').replace(/ł/g, 'l');
}
