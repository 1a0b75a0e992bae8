/** What parent and child say to each other, and what an extraction yields. Lengths are UTF-16 code units, memory is MiB of resident set. */

export interface ExtractLimits {
  /** Wall clock, from the start of the child to its last page. */
  maxSeconds: number;
  /** Resident set of the child. Its JS heap is limited to three quarters of that: array buffers live outside the heap. */
  maxMemoryMb: number;
  /** Checked right after the file is opened: walking 20,000 pages is quadratic. */
  maxPages: number;
}

/** Counted in the child, so that the parent's event loop never walks a whole book. */
export interface TextStats {
  /** \p{L} */
  letters: number;
  digits: number;
  /** Everything that is not white space. */
  visible: number;
  /** Replacement, private-use and unassigned characters: glyphs whose meaning is lost. */
  lost: number;
  latin: number;
  vowels: number;
}

export interface PageText {
  /** 1-based. */
  page: number;
  text: string;
  stats: TextStats;
  /** The page could not be read to its end; `text` is empty. */
  error?: string;
  /** More is on the page than `text` says: it broke off, or it is a picture. */
  incomplete?: boolean;
}

export type RefusalCode = 'password_required' | 'not_a_pdf' | 'damaged_pdf' | 'too_many_pages' | 'used_too_much_memory' | 'took_too_long';

export type ChildMessage =
  | { type: 'opened'; pages: number }
  | { type: 'page'; page: PageText }
  | { type: 'refused'; code: RefusalCode; message: string }
  | { type: 'done' };

/** Handed to the child as its only argument. */
export interface ChildOrder extends ExtractLimits {
  parentPid: number;
  /** The whole document's text may not grow beyond this. */
  maxTextChars: number;
}

/** A thousand dense pages have about 3 million characters. */
export const MAX_TEXT_CHARS = 12_000_000;

export function isChildMessage(value: unknown): value is ChildMessage {
  return typeof value === 'object' && value !== null && 'type' in value
    && ['opened', 'page', 'refused', 'done'].includes(String(value.type));
}
