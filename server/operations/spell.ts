/** A length of time for an answer: `8 s`, `1 m 12 s`, `3 h 5 m`, `2 d 4 h`. Whole seconds, never negative. */
export function spell(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: [number, string][] = [[Math.floor(whole / 86_400), 'd'], [Math.floor(whole / 3_600) % 24, 'h'], [Math.floor(whole / 60) % 60, 'm'], [whole % 60, 's']];
  const first = parts.findIndex(([n]) => n > 0);
  if (first === -1) return '0 s';
  return parts.slice(first, first + 2).filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`).join(' ');
}
