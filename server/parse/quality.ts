import type { PageText, TextStats } from './extraction.js';

export type Quality = 'good' | 'partial' | 'garbled';

/** Below this many letters a share says nothing. */
const ENOUGH_LETTERS = 200;
/** Fewer letters a page than this, in a damaged file, means that its text is lost. */
const LETTERS_OF_A_PAGE = 40;

export function statsOf(text: string): TextStats {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return {
    letters: count(/\p{L}/gu),
    digits: count(/\p{N}/gu),
    visible: count(/\S/gu),
    lost: count(/[\ufffd\p{Co}\p{Cn}]/gu),
    latin: count(/\p{Script=Latin}/gu),
    vowels: text.normalize('NFD').match(/[aeiouyæœøı]/giu)?.length ?? 0,
  };
}

export function sumOf(pages: PageText[]): TextStats {
  const sum: TextStats = { letters: 0, digits: 0, visible: 0, lost: 0, latin: 0, vowels: 0 };
  for (const { stats } of pages) {
    for (const key of Object.keys(sum) as (keyof TextStats)[]) sum[key] += stats[key];
  }
  return sum;
}

/**
 * How far the text can be trusted. `garbled`: there is text, but most of its letters are lost or stand for others. `partial`: some pages
 * could not be read, broke off, or show a picture without text. A blank page is no loss.
 */
export function qualityOf(pages: PageText[]): Quality {
  if (isGarbled(pages)) return 'garbled';
  return pages.some((page) => page.error !== undefined || page.incomplete) ? 'partial' : 'good';
}

function isGarbled(pages: PageText[]): boolean {
  const sum = sumOf(pages);
  return sum.lost > sum.visible * 0.25
    || (sum.visible > ENOUGH_LETTERS && sum.letters + sum.digits < sum.visible * 0.35)
    || isImplausible(sum)
    || isMostlyLost(pages, sum);
}

/** A font without a usable character map yields other letters instead of none. Every Latin-written language has 30 to 60 % vowels. */
function isImplausible(sum: TextStats): boolean {
  const share = sum.vowels / sum.latin;
  return sum.latin >= ENOUGH_LETTERS && sum.latin > sum.letters / 2 && (share < 0.2 || share > 0.7);
}

/** Damage is proven, most pages yield nothing, and the rest is crumbs. */
function isMostlyLost(pages: PageText[], sum: TextStats): boolean {
  const broken = pages.some((page) => page.error !== undefined);
  const wordless = pages.filter((page) => page.stats.letters < LETTERS_OF_A_PAGE).length;
  return broken && pages.length > 2 && wordless * 2 > pages.length && sum.letters < pages.length * LETTERS_OF_A_PAGE;
}
