import { pageOf, textFromChunks } from '../claims/document-text.js';
import type { JudgedPassage } from './judge.js';

/**
 * The page on which the character (counted within the passage) stands. Exact where the pages' starts are known; without them, a passage
 * that goes over a page's end tells its pages apart by the blank line between them (wrong for one character in twelve there, measured).
 */
export function pageWithin({ pageFrom, pageTo, pageStarts, charFrom, body }: JudgedPassage, offset: number): number {
  if (pageFrom === pageTo) return pageFrom;
  if (pageStarts?.length === pageTo - pageFrom + 1) return pageFrom + pageStarts.filter((start) => start <= charFrom + offset).length - 1;
  const alone = textFromChunks([{ charFrom: 0, charTo: body.length, pageFrom: 1, pageTo: pageTo - pageFrom + 1, body }]);
  return Math.min(pageTo, pageFrom + pageOf(alone, offset) - 1);
}
