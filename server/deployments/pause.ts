/** Waits `ms`, or rejects with the signal's reason as soon as it aborts. */
export function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      settle();
    };
    const aborted = () => end(() => reject(signal.reason as Error));
    const timer = setTimeout(() => end(resolve), ms);
    signal.addEventListener('abort', aborted, { once: true });
  });
}
