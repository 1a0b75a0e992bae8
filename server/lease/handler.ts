import type pg from 'pg';
import type { Lease } from './lease.js';
import type { Logger } from '../log.js';

export type { Lease };

/** What a handler may use while it works. */
export interface Work {
  /** Aborts when the lease is lost, the row is cancelled, or the drain gives the row back. Its reason says which. */
  signal: AbortSignal;
  /** Remembered and written with the next beat; costs nothing to call often. */
  progress(done: number, total: number): void;
  /** A service outside has just answered: if the queue rests after an outage, it need not rest until this lease ends. Costs nothing otherwise. */
  outsideAnswered(): void;
  log: Logger;
  pool: pg.Pool;
}

/** Failures are thrown (see lease/errors.ts); anything else thrown counts as a TransientError with code `internal`. */
export type Outcome = Done | Wait;

/** Not yet: the row goes back to the queue for so long (ms). No failure, nothing is charged. Only of a parent that makes its own children. */
export interface Wait {
  wait: number;
}

/** The work is done: the row succeeds, or awaits the children that `apply` has inserted (their number; none at all: it succeeds). */
export interface Done {
  succeed: true;
  await?: number;
  /** Runs in the transaction that settles the row, after the row is locked and its token checked; may run again if the commit's answer was lost before it took effect. */
  apply?: (tx: pg.PoolClient) => Promise<void>;
  /** Further columns written by the settling UPDATE (names from the code, never from outside). */
  set?: Record<string, unknown>;
}

export type Handler = (lease: Lease, work: Work) => Promise<Outcome>;

/** One handler a queue table. */
export type Handlers = Readonly<Record<string, Handler>>;
