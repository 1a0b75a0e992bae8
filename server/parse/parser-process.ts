import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { ChildOrder } from './extraction.js';

/**
 * Starts a parser with an empty environment, in a session of its own (Ctrl-C in a terminal reaches the worker alone, which then
 * decides).
 */
export function startParser(order: ChildOrder): ChildProcess {
  const { entry, loader } = program();
  return fork(entry, [JSON.stringify(order)], {
    execArgv: [`--max-old-space-size=${Math.floor(order.maxMemoryMb * 0.75)}`, ...loader],
    env: {} as NodeJS.ProcessEnv,
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    detached: true,
  });
}

/**
 * Sends the file to the child's stdin: nothing on disk, and no more than a few pieces in the parent's memory. @throws what the source
 * throws; a child that dies before it has read everything is no error here, its exit says why.
 */
export async function feed(child: ChildProcess, source: Buffer | AsyncIterable<Uint8Array>): Promise<void> {
  if (!child.stdin) return;
  let sourceError: unknown;
  // Only what the source itself throws is caught: a pipe that breaks is thrown into this generator too, at its yield.
  async function* watched(): AsyncGenerator<Uint8Array> {
    const pieces = (Buffer.isBuffer(source) ? Readable.from([source]) : source)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await pieces.next().catch((error: unknown) => {
          sourceError = error;
          throw error;
        });
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await pieces.return?.();
    }
  }
  await pipeline(Readable.from(watched(), { objectMode: true, highWaterMark: 1 }), child.stdin).catch(() => undefined);
  if (sourceError) throw sourceError;
}

/**
 * Plain JavaScript beside this file. Where this file runs from the sources (tests, development), that of the build; without a build the
 * source through tsx, which works but needs seconds and 300 MB more.
 */
function program(): { entry: string; loader: string[] } {
  if (!import.meta.url.endsWith('.ts')) return { entry: beside('./extract-child.js'), loader: [] };
  const built = beside('../../build/server/parse/extract-child.js');
  if (existsSync(built)) return { entry: built, loader: [] };
  return { entry: beside('./extract-child.ts'), loader: ['--import', createRequire(import.meta.url).resolve('tsx')] };
}

function beside(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
