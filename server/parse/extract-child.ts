/**
 * The parser process: reads one file from stdin, sends its pages to the parent, and waits to be ended by it. It runs with an empty
 * environment, below normal priority, and as the kernel's first choice when the machine is out of memory.
 */
import fs from 'node:fs';
import os from 'node:os';
import type { ChildMessage, ChildOrder } from './extraction.js';
import { openPdf, readPages, Refused } from './read-pages.js';
import { Warnings } from './warnings.js';
import { startWatchdog } from './watchdog.js';

/** Beats and pages go first on a busy machine; a third of a normal share still reads the file in time. */
const NICE = 5;

await main(JSON.parse(process.argv[2] ?? '{}') as ChildOrder);

async function main(order: ChildOrder): Promise<void> {
  leaveLifeAndDeathToTheParent();
  startWatchdog(order);
  try {
    await extract(order);
    await send({ type: 'done' });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await send({ type: 'refused', code: error.code, message: error.message });
  }
}

/** A redeploy signals whole process groups; only the parent decides whether this file is finished, given back or refused. */
function leaveLifeAndDeathToTheParent(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit(0));
  // A broken file may reject promises of pdf.js that nobody awaits; the page that matters reports its own error.
  process.on('unhandledRejection', () => undefined);
  attempt(() => os.setPriority(NICE));
  attempt(() => fs.writeFileSync('/proc/self/oom_score_adj', '1000'));
}

async function extract(order: ChildOrder): Promise<void> {
  const warnings = Warnings.fromConsole();
  const document = await openPdf(await readStdin());
  await send({ type: 'opened', pages: document.numPages });
  if (document.numPages > order.maxPages) throw new Refused('too_many_pages', `${document.numPages} pages`);
  for await (const page of readPages(document, order.maxTextChars, warnings)) await send({ type: 'page', page });
}

async function readStdin(): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return new Uint8Array(Buffer.concat(parts));
}

/** Resolves when the message has left: a slow parent slows the child down instead of filling its memory. */
function send(message: ChildMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve()));
  });
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // Not every system lets a process do this; the limits hold without it.
  }
}
