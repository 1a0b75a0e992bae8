import { PermanentError } from '../lease/errors.js';
import type { ExtractLimits, RefusalCode } from './extraction.js';

const sentences: Record<RefusalCode | 'no_text', (limits: ExtractLimits) => string> = {
  password_required: () => 'The file is protected by a password. Remove the protection and upload it again.',
  not_a_pdf: () => 'The file is not a PDF. Upload the document as a PDF.',
  damaged_pdf: () => 'The file is damaged and cannot be read. Export it again and upload the new file.',
  no_text: () => 'The file contains no text; it is probably a scan. Run a text recognition over it and upload the result.',
  too_many_pages: (limits) => `The file has more than ${limits.maxPages} pages. Split it and upload the parts.`,
  took_too_long: (limits) => `Reading the file took longer than ${limits.maxSeconds} s. Export it again in a simpler form and upload the new file.`,
  used_too_much_memory: (limits) => `Reading the file took more than ${limits.maxMemoryMb} MB of memory. Export it again in a simpler form and upload the new file.`,
};

/** The permanent failure of one file, worded as what is true and what to do next. */
export function refusal(code: RefusalCode | 'no_text', limits: ExtractLimits, cause?: unknown): PermanentError {
  return new PermanentError(code, sentences[code](limits), { cause });
}
