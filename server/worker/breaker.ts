/**
 * A queue rests after a service outside failed: no new claims until `retry_at`, then one at a time until one succeeds. The state is in the
 * database, so that all workers rest together and Now can say so; each process re-reads it with its poll. Losing a write here costs only time.
 */
import type pg from 'pg';
import { outageDelayMs } from '../lease/backoff.js';
import type { Logger } from '../log.js';

interface Rest { untilRest: number; failures: number }

export interface Breaker {
  /** How many claims may be made now: unlimited, one (on trial), or none. */
  allowance(queue: string): number;
  /** Records an outage. @returns how long the row itself should wait, in milliseconds. Never rejects. */
  failed(queue: string, reason: string, retryAfterMs: number | undefined): Promise<number>;
  /** Closes the breaker of a queue after a success. Costs nothing while it is closed. Never rejects. */
  succeeded(queue: string): Promise<void>;
  /** Reads what other processes have recorded. */
  refresh(): Promise<void>;
}

export function createBreaker(pool: pg.Pool, log: Logger): Breaker {
  let resting = new Map<string, Rest>();
  let writes = 0;
  let unwritten = 0;
  return {
    allowance(queue) {
      const rest = resting.get(queue);
      if (!rest) return Infinity;
      return performance.now() < rest.untilRest ? 0 : 1;
    },
    async failed(queue, reason, retryAfterMs) {
      const failures = (resting.get(queue)?.failures ?? 0) + 1;
      const delayMs = outageDelayMs(failures - 1, retryAfterMs);
      resting.set(queue, { untilRest: performance.now() + delayMs, failures });
      writes += 1;
      unwritten += 1;
      await pool.query(
        `insert into breakers (queue, opened_at, retry_at, failures, reason) values ($1, now(), now() + $2 * interval '1 millisecond', 1, $3)
         on conflict (queue) do update set retry_at = excluded.retry_at, failures = breakers.failures + 1, reason = excluded.reason`,
        [queue, Math.round(delayMs), reason],
      ).catch((error: unknown) => log.warn({ event: 'breaker_not_recorded', queue, err: error }, 'An outage could not be recorded'))
        .finally(() => { unwritten -= 1; writes += 1; });
      return delayMs;
    },
    async succeeded(queue) {
      if (!resting.delete(queue)) return;
      await pool.query('delete from breakers where queue = $1', [queue])
        .catch((error: unknown) => log.warn({ event: 'breaker_not_closed', queue, err: error }, 'The end of an outage could not be recorded'));
    },
    async refresh() {
      const before = writes;
      const { rows } = await pool.query<{ queue: string; failures: number; rest_ms: string }>(
        `select queue, failures, greatest(0, extract(epoch from retry_at - now()) * 1000) as rest_ms from breakers`);
      if (unwritten > 0 || writes !== before) return; // read before an outage of our own was written: it would be forgotten
      resting = new Map(rows.map((row) => [row.queue, { untilRest: performance.now() + Number(row.rest_ms), failures: row.failures }]));
    },
  };
}
