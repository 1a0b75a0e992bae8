const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A typographic minus, as wide as a digit. */
const MINUS = '\u2212';

/** How long, in whole seconds and at most two units: "41 s", "2 m 12 s", "3 h 5 m", "3 d 4 h". Milliseconds in; below zero reads as zero. */
export function age(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / SECOND)) * SECOND;
  if (whole < MINUTE) return `${whole / SECOND} s`;
  if (whole < HOUR) return two(whole, MINUTE, 'm', SECOND, 's');
  if (whole < DAY) return two(whole, HOUR, 'h', MINUTE, 'm');
  return two(whole, DAY, 'd', HOUR, 'h');
}

/** What is left until an instant: counts upward behind a minus once it has passed ("−42 s"). */
export function remaining(ms: number): string {
  return ms >= 0 ? age(ms) : `${MINUS}${age(-ms)}`;
}

/** A measured time, finer than an age: "280 ms", "1.2 s", "41 s", "1 m 31 s". */
export function duration(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  const seconds = ms / SECOND;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  return age(Math.round(seconds) * SECOND);
}

function two(ms: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % big) / small);
  const first = `${Math.floor(ms / big)} ${bigUnit}`;
  return rest === 0 ? first : `${first} ${rest} ${smallUnit}`;
}
