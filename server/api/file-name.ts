import { cleanText } from '../db/text.js';
import { redacted } from '../log.js';

/** Longest accepted file name, in characters (code points). */
export const MAX_NAME_CHARS = 255;
const UNNAMED = 'unnamed.pdf';

/**
 * A client's file name as text: the last part of a path, without NUL, lone surrogates and secrets of this installation, control characters as spaces. It is never used as a path here. Null when
 * it is longer than MAX_NAME_CHARS; a missing or empty one is called unnamed.pdf.
 */
export function fileNameOf(given: string | undefined): string | null {
  const name = (redacted(cleanText(given ?? '')).split(/[/\\]/).at(-1) ?? '').replace(/\p{Cc}/gu, ' ').trim();
  if (name === '' || name === '.' || name === '..') return UNNAMED;
  return [...name].length > MAX_NAME_CHARS ? null : name;
}
