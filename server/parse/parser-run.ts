/**
 * One parser process from start to exit. Promises: when `result` settles, the process has ended and was reaped, and no timer or listener
 * of ours remains. The first reason to end wins; it ends the process with SIGKILL.
 */
import type { ChildProcess } from 'node:child_process';
import { TransientError } from '../lease/errors.js';
import { isChildMessage, MAX_TEXT_CHARS, type ExtractLimits, type PageText } from './extraction.js';
import { watchMemory } from './memory-watch.js';
import { feed, startParser } from './parser-process.js';
import { refusal } from './refusals.js';
import { VERDICT } from './watchdog.js';

export interface ParserOptions {
  /** Its reason is thrown. */
  signal: AbortSignal;
  limits: ExtractLimits;
  /** After each page. */
  onPage?: (done: number, total: number) => void;
}

/** Enough of the child's last words to recognise V8's report of an exhausted heap. */
const STDERR_CHARS = 32_768;

/** @throws PermanentError, TransientError `parser_crashed`, or the signal's reason. */
export async function runParser(bytes: Buffer | AsyncIterable<Uint8Array>, options: ParserOptions): Promise<PageText[]> {
  const run = new ParserRun(options);
  try {
    return await run.result(bytes);
  } finally {
    run.cleanUp();
  }
}

class ParserRun {
  private readonly child: ChildProcess;
  private readonly pages: PageText[] = [];
  private readonly timer: NodeJS.Timeout;
  private readonly stopWatching: () => void;
  private total = 0;
  private ended: { error?: unknown } | undefined;

  constructor(private readonly options: ParserOptions) {
    const { limits, signal } = options;
    this.child = startParser({ ...limits, parentPid: process.pid, maxTextChars: MAX_TEXT_CHARS });
    this.child.on('message', this.onMessage);
    this.timer = setTimeout(() => this.fail(refusal('took_too_long', limits)), limits.maxSeconds * 1000);
    this.stopWatching = watchMemory(this.child.pid, limits.maxMemoryMb, () => this.fail(refusal('used_too_much_memory', limits)));
    signal.addEventListener('abort', this.onAbort);
  }

  async result(bytes: Buffer | AsyncIterable<Uint8Array>): Promise<PageText[]> {
    const gone = whenGone(this.child);
    feed(this.child, bytes).catch((error: unknown) => this.fail(error));
    const lastWords = await gone;
    if (!this.ended) throw causeOfDeath(this.child, lastWords, this.options.limits);
    if ('error' in this.ended) throw this.ended.error;
    return this.pages;
  }

  cleanUp(): void {
    clearTimeout(this.timer);
    this.stopWatching();
    this.options.signal.removeEventListener('abort', this.onAbort);
  }

  private readonly onAbort = () => this.fail(this.options.signal.reason);

  private readonly onMessage = (message: unknown) => {
    if (this.ended || !isChildMessage(message)) return;
    if (message.type === 'opened') this.total = message.pages;
    else if (message.type === 'page') this.keep(message.page);
    else if (message.type === 'refused') this.fail(refusal(message.code, this.options.limits, message.message));
    else this.end({});
  };

  private keep(page: PageText): void {
    this.pages.push(page);
    this.options.onPage?.(this.pages.length, this.total);
  }

  private fail(error: unknown): void {
    this.end({ error });
  }

  private end(how: { error?: unknown }): void {
    this.ended ??= how;
    this.child.kill('SIGKILL');
  }
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
