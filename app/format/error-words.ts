/** What an error code means, in one line. Codes are part of the product's interface; unknown ones are shown as they are. */
const meanings: Record<string, string> = {
  password_required: 'The file is protected by a password.',
  not_a_pdf: 'The file is not a PDF.',
  damaged_pdf: 'The file is damaged and could not be read.',
  no_text: 'The file holds pictures of pages only, no text.',
  too_many_pages: 'The file has more pages than are read.',
  took_too_long: 'Reading the file took longer than is allowed.',
  used_too_much_memory: 'Reading the file took more memory than is allowed.',
  parser_crashed: 'The file crashed the parser each time it was tried.',
  worker_lost: 'Every worker that took it died.',
  cancelled: 'It was cancelled.',
  blob_expired: 'The upload waited too long and was erased.',
  build_failed: 'The build failed; what was live before still serves.',
  build_lost: 'The hosting no longer knew the build.',
  lost: 'Nothing was heard of it for so long that a newer publish took its place.',
  cleared: 'An administrator cleared its stuck lock.',
  superseded: 'The hosting has seen a newer publish of this app.',
  orchestrator_refused: 'The hosting refused the order.',
  orchestrator_unavailable: 'The hosting did not answer.',
  thesis_erased: 'The thesis is not stored any more.',
  no_citation_checked: 'None of its citations could be checked.',
  no_item_succeeded: 'None of its files could be parsed.',
  model_unavailable: 'The language model did not answer.',
  model_refused: 'The language model refused the request.',
  model_invalid: 'The language model gave no usable answer.',
  internal: 'Something went wrong on our side.',
};

export function errorMeaning(code: string): string | null {
  return Object.hasOwn(meanings, code) ? meanings[code]! : null;
}

export const knownErrorCodes = Object.keys(meanings);
