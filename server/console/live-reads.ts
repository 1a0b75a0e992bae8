/**
 * Every read of the live board goes through here: few at a time (it must not starve the pages of connections), none longer than its
 * limit, and each one counts for what the feed may say. Nothing here rejects.
 */
import type { Logger } from '../log.js';
import type { Stamp } from './row-view.js';

const MAX_AT_ONCE = 2;
/** Above the statement timeout of a read and the pool's wait for a connection (ms): beyond it the link itself is dead. */
const READ_LIMIT_MS = 12_000;
const REPORT_INTERVAL_MS = 60_000;
/** How fast two clocks may drift apart (1 ms in 2 s: far above any real clock, so a stepped one is followed soon). */
const AGEING = 0.0005;

export interface Reads {
  /** The answer, or undefined when the read failed. */
  run<T>(read: () => Promise<T>, stampOf: (answer: T) => Stamp): Promise<T | undefined>;
  state(): ReadsState;
}

export interface ReadsState {
  /** Database clock (ms since 1970) of the last successful read; 0 before the first. */
  asOf: number;
  epoch: number;
  /** Monotonic clock of this process (performance.now()) when that read had ended. */
  succeededAt: number;
  /** Database clock less monotonic clock, ms; 0 before the first read. */
  clockOffset: number;
  failures: number;
}

export function createReads(log: Logger, limits: { atOnce?: number; readLimitMs?: number } = {}): Reads {
  const { atOnce = MAX_AT_ONCE, readLimitMs = READ_LIMIT_MS } = limits;
  const state: ReadsState = { asOf: 0, epoch: 0, succeededAt: performance.now(), clockOffset: 0, failures: 0 };
  const waiting: (() => void)[] = [];
  let running = 0;
  let lastReportAt = -Infinity;
  let clock = { uncertainty: Infinity, at: 0 };

  async function turn(): Promise<void> {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  }

  /** Hands the turn on, if anyone waits. */
  function done(): void {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  function noteSuccess({ asOf, epoch }: Stamp, sentAt: number): void {
    const now = performance.now();
    // The database read its clock between the sending and the answer: the quickest answer knows best, until its knowledge has aged.
    const uncertainty = (now - sentAt) / 2;
    if (uncertainty <= clock.uncertainty + (now - clock.at) * AGEING) {
      clock = { uncertainty, at: now };
      state.clockOffset = asOf - (sentAt + now) / 2;
    }
    state.epoch = epoch;
    state.asOf = asOf;
    state.succeededAt = now;
    state.failures = 0;
  }

  function noteFailure(error: unknown): void {
    state.failures += 1;
    if (performance.now() - lastReportAt < REPORT_INTERVAL_MS) return;
    lastReportAt = performance.now();
    log.warn({ event: 'live_read_failed', failures: state.failures, error }, 'The live board could not read; it says so and tries again');
  }

  return {
    async run(read, stampOf) {
      await turn();
      const sentAt = performance.now();
      try {
        const answer = await within(readLimitMs, read());
        noteSuccess(stampOf(answer), sentAt);
        return answer;
      } catch (error) {
        noteFailure(error);
        return undefined;
      } finally {
        done();
      }
    },
    state: () => ({ ...state }),
  };
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${limitMs} ms.`)), limitMs).unref();
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
