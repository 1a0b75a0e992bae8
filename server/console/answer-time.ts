/** Instants and numbers of an answer, in one language and one zone. */
export interface AnswerTimes {
  number(n: number): string;
  list(parts: readonly string[]): string;
  date(at: number): string;
  /** "14:05", twenty-four hours in both languages. */
  clock(at: number): string;
  /** "UTC", "CET", "MEZ". */
  zone(at: number): string;
  sameDay(a: number, b: number): boolean;
}

/** @param timeZone IANA name. @throws RangeError for a zone that does not exist. */
export function answerTimes(locale: 'en-GB' | 'de-DE', timeZone: string): AnswerTimes {
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone });
  const time = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone });
  const named = new Intl.DateTimeFormat(locale, { hour: '2-digit', timeZone, timeZoneName: 'short' });
  const numbers = new Intl.NumberFormat(locale);
  const lists = new Intl.ListFormat(locale, { type: 'conjunction' });
  return {
    number: (n) => numbers.format(n),
    list: (parts) => lists.format(parts),
    date: (at) => day.format(at),
    clock: (at) => time.format(at),
    zone: (at) => named.formatToParts(at).find((part) => part.type === 'timeZoneName')!.value,
    sameDay: (a, b) => day.format(a) === day.format(b),
  };
}

/** Whether the runtime knows the zone: the way a zone from a URL comes in. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const MINUTE_MS = 60_000;

/** A range in whole minutes that contains the given one, at least a minute long. */
export function wholeMinutes({ from, to }: { from: number; to: number }): { from: number; to: number } {
  const floor = Math.floor(from / MINUTE_MS) * MINUTE_MS;
  return { from: floor, to: Math.max(Math.ceil(to / MINUTE_MS) * MINUTE_MS, floor + MINUTE_MS) };
}
