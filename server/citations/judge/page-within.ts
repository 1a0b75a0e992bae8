import { pageOf, textFromChunks } from '../claims/document-text.js';
import type { JudgedPassage } from './judge.js';

/**
 * The page on which the character (counted within the passage) stands. Exact for a passage on one page; one that goes over a page's end
 * tells its pages apart by the blank line between them.
 */
export function pageWithin({ pageFrom, pageTo, body }: JudgedPassage, offset: number): number {
  if (pageFrom === pageTo) return pageFrom;
  const alone = textFromChunks([{ charFrom: 0, charTo: body.length, pageFrom: 1, pageTo: pageTo - pageFrom + 1, body }]);
  return Math.min(pageTo, pageFrom + pageOf(alone, offset) - 1);
}
