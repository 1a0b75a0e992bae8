import { setTimeout as sleep } from 'node:timers/promises';

/** An outside call ran out of its time. */
export class TimeoutError extends Error {
  override name = 'TimeoutError';
}

/**
 * Runs `call` with a signal of its own that fires after `timeoutMs` or with `outer`, and settles at that moment even if `call` ignores it.
 * One controller, one timer, one listener: a combined signal is lost to the garbage collector on Node 20.
 */
export async function abortable<T>(call: (signal: AbortSignal) => Promise<T>, timeoutMs: number, outer: AbortSignal): Promise<T> {
  outer.throwIfAborted();
  const controller = new AbortController();
  const onOuter = () => controller.abort(outer.reason);
  const timer = setTimeout(() => controller.abort(new TimeoutError(`no complete answer within ${timeoutMs} ms`)), timeoutMs);
  outer.addEventListener('abort', onOuter);
  try {
    return await Promise.race([call(controller.signal), rejection(controller.signal)]);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', onOuter);
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** Waits; ends early by throwing the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
