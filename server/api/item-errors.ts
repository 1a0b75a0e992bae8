/** What a person should do about a file that failed: one instruction for each stable item error code (interfaces: Item error codes). */
const INSTRUCTIONS: Readonly<Record<string, string>> = {
  password_required: 'This PDF is protected by a password. Remove the protection and upload it again.',
  not_a_pdf: 'This file is not a PDF. Export it as PDF and upload it again.',
  damaged_pdf: 'This PDF is damaged and cannot be read. Open and save it again, or export it anew, and upload that.',
  no_text: 'This PDF contains no text, only images. Run text recognition (OCR) on it and upload the result.',
  too_many_pages: 'This PDF has more pages than are accepted. Split it and upload the parts.',
  took_too_long: 'Reading this PDF took longer than is allowed. Save it again in a simpler form, or split it, and upload that.',
  used_too_much_memory: 'Reading this PDF needed more memory than is allowed. Split it, or reduce its images, and upload the parts.',
  parser_crashed: 'This PDF could not be read: the reader failed on it every time. Open and save it again, or export it anew, and upload that.',
  worker_lost: 'The work on this file was interrupted too often and was given up. Upload it again; if that happens once more, tell the operators its item id.',
  cancelled: 'The work on this file was cancelled. Upload it again if it is still needed.',
  blob_expired: 'This file waited too long and its upload was erased. Upload it again.',
  internal: 'Something failed on our side while reading this file. Upload it again; if it fails once more, tell the operators its item id.',
};

/** The code and its instruction; a code this build does not know is shown with the advice for `internal`. */
export function itemError(code: string): { code: string; message: string } {
  return { code, message: INSTRUCTIONS[code] ?? INSTRUCTIONS.internal! };
}

export const itemErrorCodes: readonly string[] = Object.keys(INSTRUCTIONS);
