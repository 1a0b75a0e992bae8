/**
 * Reads a thesis in a thread of its own, so that beats never wait for it. Promises: it ends with an answer, at the time limit, at the memory
 * limit or with the signal, and the thread is gone when it has ended.
 */
import { Worker } from 'node:worker_threads';
import { PermanentError, TransientError } from '../lease/errors.js';
import type { ThesisOrder, ThesisRead } from './read-thesis.js';

/** A thesis with sixteen thousand citations takes two seconds. */
const MAX_SECONDS = 120;
const MAX_MEMORY_MB = 1024;

/** @throws PermanentError `took_too_long` or `used_too_much_memory`, TransientError `reader_crashed`, or the signal's reason. */
export async function readInThread(order: ThesisOrder, signal: AbortSignal, maxSeconds = MAX_SECONDS): Promise<ThesisRead> {
  signal.throwIfAborted();
  const thread = startThread(order);
  let onAbort = () => {};
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<ThesisRead>((resolve, reject) => {
      onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      timer = setTimeout(() => reject(tooLong(maxSeconds)), maxSeconds * 1000);
      thread.once('message', resolve);
      thread.once('error', (error) => reject(faultOf(error)));
      thread.once('exit', (code) => reject(new TransientError('reader_crashed', `The thread that reads the thesis ended without an answer (exit ${code}).`)));
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    await thread.terminate();
  }
}

/** Plain JavaScript beside this file; where this file runs from the sources (tests, benchmarks), that of the build which they have made before. */
function startThread(order: ThesisOrder): Worker {
  const program = import.meta.url.endsWith('.ts') ? '../../build/server/citations/thesis-thread.js' : './thesis-thread.js';
  return new Worker(new URL(program, import.meta.url), { workerData: order, env: {}, resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB } });
}

function tooLong(maxSeconds: number): PermanentError {
  return new PermanentError('took_too_long', `The citations of this thesis could not be read within ${maxSeconds} seconds.`);
}

function faultOf(error: Error): Error {
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') return new PermanentError('used_too_much_memory', `Reading the citations of this thesis takes more than ${MAX_MEMORY_MB} MB.`);
  return new TransientError('reader_crashed', `The thread that reads the thesis failed: ${error.message}`, { cause: error });
}
