/**
 * Text that Postgres accepts: NUL is dropped (22021 in text, 22P05 in jsonb), a lone surrogate becomes U+FFFD (22P02 in jsonb).
 * Every text that came from outside (file names, error messages, form fields, document text) passes through here once.
 */
export function cleanText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole;
}
