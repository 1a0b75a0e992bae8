/** A spreadsheet runs a cell that begins with one of these as a formula; an apostrophe in front makes it text again. */
const STARTS_FORMULA = /^[=+\-@\t\r]/;

/** One CSV line (RFC 4180, CRLF). Text from outside cannot become a formula; numbers stay numbers. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = STARTS_FORMULA.test(value.trimStart()) || STARTS_FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
