import { setTimeout as pause } from 'node:timers/promises';

/** Waits until `condition` answers something truthy, and answers that. Looks every 20 ms; fails with `what` after ten seconds. */
export async function until<T>(condition: () => T | Promise<T>, options: { timeoutMs?: number, what?: string } = {}): Promise<Exclude<NonNullable<T>, false>> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer as Exclude<NonNullable<T>, false>;
    if (performance.now() > deadline) throw new Error(`${options.what ?? condition.toString()} did not happen within ${timeoutMs} ms`);
    await pause(20);
  }
}
