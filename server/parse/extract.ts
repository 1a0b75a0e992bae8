import type { ExtractLimits, PageText } from './extraction.js';
import { runParser, type ParserOptions } from './parser-run.js';
import { qualityOf, sumOf, type Quality } from './quality.js';
import { refusal } from './refusals.js';

/** As many unreadable glyphs are a garbled text; fewer are dirt on a scan. */
const GARBLED_GLYPHS = 50;

export interface Extraction {
  pages: PageText[];
  quality: Quality;
  /** 1-based numbers of pages that could not be read. */
  failedPages: number[];
  letters: number;
}

/**
 * Text of one PDF, page by page, from a child process that may spin, swell or die without harm to this one. `bytes` is the whole file, or
 * its pieces in order. Limits are wall seconds on the monotonic clock, MiB and pages.
 * @throws PermanentError for a file that can never be read (codes of interfaces.md), TransientError `parser_crashed` when the child died
 * by itself, the signal's reason when aborted.
 */
export async function extractPdf(bytes: Buffer | AsyncIterable<Uint8Array>, options: ParserOptions): Promise<Extraction> {
  options.signal.throwIfAborted();
  return judge(await runParser(bytes, options), options.limits);
}

/** Turns pages into a result or, where no text came out at all, into the truth about that. */
function judge(pages: PageText[], limits: ExtractLimits): Extraction {
  const failedPages = pages.filter((page) => page.error !== undefined).map((page) => page.page);
  const { letters, lost } = sumOf(pages);
  if (failedPages.length === pages.length) throw refusal('damaged_pdf', limits);
  if (letters === 0 && lost < GARBLED_GLYPHS) throw refusal('no_text', limits);
  return { pages, quality: qualityOf(pages), failedPages, letters };
}
