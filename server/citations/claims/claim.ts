import type { MarkKind } from './found-mark.js';
import type { Unresolved } from './resolve.js';

/** A place in the thesis: UTF-16 code units of the document's text, `charTo` exclusive, `page` 1-based. */
export interface Place {
  page: number;
  charFrom: number;
  charTo: number;
}

/** One citation of one work. */
export interface Mark extends Place {
  kind: MarkKind;
  text: string;
  locator: string | null;
  /** Index in `bibliography`; null with the reason. */
  entry: number | null;
  reason: Unresolved | null;
}

/** A sentence and one work it cites. Works that were not found in the list of references stay, with `entry: null` and the reason. */
export interface Claim extends Place {
  /** 0-based, in the order of the text. */
  ordinal: number;
  /** Exactly `text.slice(charFrom, charTo)`: with line ends, hyphens, and a running head if a page ends in it. */
  sentence: string;
  /** The sentence as one reads it: one line, words put together again, nothing of the page around it. */
  reading: string;
  /** Indexes in `marks`: the same work may be cited twice in a sentence. */
  marks: number[];
  markText: string;
  locator: string | null;
  entry: number | null;
  reason: Unresolved | null;
}
