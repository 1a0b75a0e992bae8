/**
 * Text of one PDF, page by page, from a child process that may spin, swell or die without harm to this one. Promises: when the returned
 * promise settles, the child has ended and was reaped; an abort or a limit ends it with SIGKILL; if this process dies, the child notices
 * within a tenth of a second (see watchdog.ts). Times are wall seconds on the monotonic clock.
 */
import type { ChildProcess } from 'node:child_process';
import { TransientError } from '../lease/errors.js';
import { isChildMessage, MAX_TEXT_CHARS, type ChildMessage, type ExtractLimits, type PageText } from './extraction.js';
import { watchMemory } from './memory-watch.js';
import { startParser } from './parser-process.js';
import { qualityOf, sumOf, type Quality } from './quality.js';
import { refusal } from './refusals.js';
import { VERDICT } from './watchdog.js';

export interface Extraction {
  pages: PageText[];
  quality: Quality;
  /** 1-based numbers of pages that could not be read. */
  failedPages: number[];
  letters: number;
}

export interface ExtractOptions {
  signal: AbortSignal;
  limits: ExtractLimits;
  /** After each page. */
  onPage?: (done: number, total: number) => void;
}

/** Enough of the child's last words to recognise V8's report of an exhausted heap. */
const STDERR_CHARS = 32_768;

/**
 * @throws PermanentError for a file that can never be read (codes of interfaces.md), TransientError `parser_crashed` when the child died
 * by itself, the signal's reason when aborted.
 */
export async function extractPdf(bytes: Buffer, options: ExtractOptions): Promise<Extraction> {
  const { signal, limits } = options;
  signal.throwIfAborted();
  return judge(await runParser(bytes, options), limits);
}

/** Turns pages into a result or, where no text came out at all, into the truth about that. */
export function judge(pages: PageText[], limits: ExtractLimits): Extraction {
  const failedPages = pages.filter((page) => page.error !== undefined).map((page) => page.page);
  const { letters } = sumOf(pages);
  if (letters === 0) throw refusal(failedPages.length > 0 && failedPages.length === pages.length ? 'damaged_pdf' : 'no_text', limits);
  return { pages, quality: qualityOf(pages), failedPages, letters };
}

function runParser(bytes: Buffer, { signal, limits, onPage }: ExtractOptions): Promise<PageText[]> {
  const child = startParser(bytes, { ...limits, parentPid: process.pid, maxTextChars: MAX_TEXT_CHARS });
  const pages: PageText[] = [];
  let total = 0;
  let finish: (() => PageText[]) | undefined;

  // The first reason to end wins; the promise settles when the child is gone.
  const end = (result: () => PageText[]) => {
    finish ??= result;
    child.kill('SIGKILL');
  };
  const fail = (error: unknown) => end(() => { throw error; });
  const onAbort = () => fail(signal.reason);
  const onMessage = (message: ChildMessage) => {
    if (message.type === 'opened') total = message.pages;
    else if (message.type === 'page') {
      const done = pages.push(message.page);
      onPage?.(done, total);
    }
    else if (message.type === 'refused') fail(refusal(message.code, limits, message.message));
    else end(() => pages);
  };

  child.on('message', (message) => { if (isChildMessage(message) && !finish) onMessage(message); });
  const timer = setTimeout(() => fail(refusal('took_too_long', limits)), limits.maxSeconds * 1000);
  const stopWatching = child.pid === undefined ? () => undefined
    : watchMemory(child.pid, limits.maxMemoryMb, () => fail(refusal('used_too_much_memory', limits)));
  signal.addEventListener('abort', onAbort);
  return whenGone(child).then((lastWords) => (finish ?? (() => { throw causeOfDeath(child, lastWords, limits); }))())
    .finally(() => {
      clearTimeout(timer);
      stopWatching();
      signal.removeEventListener('abort', onAbort);
    });
}

/** Resolves with the child's last words once it has exited and its pipes are closed, or could not be started at all. */
function whenGone(child: ChildProcess): Promise<string> {
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => { lastWords = (lastWords + text).slice(-STDERR_CHARS); });
  return new Promise((resolve) => {
    child.once('close', () => resolve(lastWords));
    child.on('error', (error) => { if (child.pid === undefined) resolve(error.message); });
  });
}

function causeOfDeath(child: ChildProcess, lastWords: string, limits: ExtractLimits): Error {
  const verdict = VERDICT.exec(lastWords)?.[1];
  if (verdict === 'took_too_long' || verdict === 'used_too_much_memory') return refusal(verdict, limits);
  if (/heap out of memory|Array buffer allocation failed/i.test(lastWords)) return refusal('used_too_much_memory', limits);
  const how = child.signalCode ?? `exit code ${child.exitCode ?? 'unknown'}`;
  return new TransientError('parser_crashed', `The process that reads the file died (${how}).`, { cause: lastWords.trim().slice(-500) });
}
