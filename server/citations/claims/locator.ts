const WORDS = 'S\\.|Seiten?|pp?\\.|pages?|Kap\\.|Kapitel|[Cc]h(?:ap)?\\.|[Cc]hapter|[Ss]ec(?:tion|t)?\\.?|Abschn(?:itt|\\.)|Rn\\.|Rz\\.|Abb\\.|Tab\\.|Bd\\.|[Vv]ol\\.|[Ff]ig(?:ure|\\.)|[Tt]able|Theorem|Satz|Sp\\.|Art\\.|§';
const NUMBERS = '[\\dIVXivx]+[\\dA-Za-z]*(?:\\.\\d+|\\.[A-Z])*(?:\\s?[–—-]\\s?\\d+)?(?:\\s?ff?\\.)?';

/** Source of a pattern for "S. 12", "pp. 3–5", "Kap. 2", "12–14". */
export const LOCATOR = `(?:(?:${WORDS})\\s?${NUMBERS}(?:(?:,|\\s(?:u\\.|und|and))\\s?\\d{1,4}(?!\\d)(?:\\s?[–-]\\s?\\d+)?)*|\\d{1,4}\\s?[–—-]\\s?\\d{1,4}|\\d{1,3}(?:\\s?ff?\\.)?(?!\\d))`;

const whole = new RegExp(`^(?:${WORDS})\\s?${NUMBERS}$`, 'u');

/** Whether the text, without anything else, names a place in a work. Plain numbers do not: in [1, 2] they are works. */
export function isLocator(text: string): boolean {
  return whole.test(text.trim());
}
