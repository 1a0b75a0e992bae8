const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** "812 bytes", "1.2 MB", "120 MB": decimal units, two or three digits. */
export function bytes(n: number): string {
  let value = n;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return n === 1 ? '1 byte' : `${n} bytes`;
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}
