/**
 * Tells consoles which rows this process has changed. Not in the hot transactions: a pending NOTIFY holds a server-wide lock until
 * its commit's fsync (measured: one in each settle halves the drain rate), so ids are collected and sent after their commit, the first
 * at once, then at most ten times a second. A crash or a failed send between commit and hint loses the hint; consoles poll.
 */
import type { Logger } from '../log.js';
import { NOTIFY_SQL } from './kick.js';
import { encode, MAX_HINTED_IDS } from './topics.js';

/** Ten sends a second: what an eye can follow, and what the notify lock can bear. */
const SEND_INTERVAL_MS = 100;
const REPORT_INTERVAL_MS = 60_000;

export interface RowHints {
  /** Call after the commit. Cheap; never throws. */
  changed(table: string, ids: Iterable<string>): void;
  /** This worker has renewed its leases: consoles that look at it read its rows again. */
  beat(workerId: string): void;
  /** Sends what is pending and waits for it (drain). Never rejects. */
  flush(): Promise<void>;
  state(): { sends: number; failedSends: number };
}

export interface RowHintsOptions {
  /** A statement on a connection that is in no transaction (the process's reserved one, or a pool). Should time out by itself. */
  send: (sql: string, params: unknown[]) => Promise<unknown>;
  rowsChannel: string;
  log: Logger;
  sendIntervalMs?: number;
}

/** Starts no timer before the first change. */
export function createRowHints({ send, rowsChannel, log, sendIntervalMs = SEND_INTERVAL_MS }: RowHintsOptions): RowHints {
  let tables = new Map<string, Set<string>>();
  let workers = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let lastSendAt = -Infinity;
  let lastReportAt = -Infinity;
  const counts = { sends: 0, failedSends: 0 };

  function takePayloads(): string[] {
    const rows = [...tables].flatMap(([t, ids]) => (ids.size > MAX_HINTED_IDS ? encode({ t, reread: true }) : encode({ t, ids: [...ids] })));
    const beats = [...workers].flatMap((w) => encode({ w }));
    tables = new Map();
    workers = new Set();
    return [...rows, ...beats];
  }

  async function sendOnce(): Promise<void> {
    lastSendAt = performance.now();
    const payloads = takePayloads();
    if (payloads.length === 0) return;
    counts.sends += 1;
    try {
      await send(NOTIFY_SQL, [rowsChannel, payloads]);
    } catch (error) {
      counts.failedSends += 1;
      report(error);
    }
  }

  function report(error: unknown): void {
    if (performance.now() - lastReportAt < REPORT_INTERVAL_MS) return;
    lastReportAt = performance.now();
    log.warn({ event: 'row_hints_lost', failedSends: counts.failedSends, error }, 'Hints to consoles could not be sent; they see the rows at their next poll');
  }

  function run(): Promise<void> {
    timer = undefined;
    sending ??= sendOnce().finally(() => {
      sending = undefined;
      if (pending()) schedule();
    });
    return sending;
  }

  const pending = () => tables.size > 0 || workers.size > 0;

  // The leading edge is a turn of the event loop, not zero: what one transaction changed in one go travels together.
  function schedule(): void {
    if (timer || sending) return;
    const wait = Math.max(0, lastSendAt + sendIntervalMs - performance.now());
    timer = setTimeout(() => void run(), wait).unref();
  }

  async function flush(): Promise<void> {
    await sending;
    clearTimeout(timer);
    await run();
  }

  return {
    changed(table, ids) {
      const known = tables.get(table) ?? new Set();
      // One above the limit is enough to know that it is too many: memory stays bounded while the database is away.
      for (const id of ids) if (known.size <= MAX_HINTED_IDS) known.add(id);
      if (known.size > 0) tables.set(table, known);
      if (pending()) schedule();
    },
    beat(workerId) {
      workers.add(workerId);
      schedule();
    },
    flush,
    state: () => ({ ...counts }),
  };
}
