/** "14:02:31" in a zone; the date is added when it is not today's there. Instants in milliseconds since 1970. */
export function clockTime(at: number, now: number, timeZone?: string): string {
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone }).format(at);
  return dayOf(at, timeZone) === dayOf(now, timeZone) ? time : `${dayOf(at, timeZone)}, ${time}`;
}

/** The whole instant, in the viewer's zone and in UTC: "30 Nov 2026, 17:42:20 CET · 16:42:20 UTC". */
export function fullInstant(at: number, timeZone?: string): string {
  const utc = new Intl.DateTimeFormat('en-GB', { ...WHOLE, timeZone: 'UTC' }).format(at);
  const local = new Intl.DateTimeFormat('en-GB', { ...WHOLE, timeZone, timeZoneName: 'short' }).format(at);
  return local === `${utc} UTC` ? local : `${local} · ${utc} UTC`;
}

export function utcInstant(at: number): string {
  return `${new Intl.DateTimeFormat('en-GB', { ...WHOLE, timeZone: 'UTC' }).format(at)} UTC`;
}

const WHOLE = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;

function dayOf(at: number, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone }).format(at);
}
