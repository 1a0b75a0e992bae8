/**
 * One lease through its handler. Whatever the handler does, exactly one of three things follows: an Ending for the pump, a settling
 * transaction of its own (when the handler has writes to make with it), or nothing, because the lease is lost and its result thrown away.
 */
import type pg from 'pg';
import { inTransaction, isConnectionError, isRetryable } from '../db/connection.js';
import { cleanText } from '../db/text.js';
import { outageDelayMs, retryDelayMs } from '../lease/backoff.js';
import type { Ending } from '../lease/ending.js';
import { LeaseLostError, OutsideError, PermanentError, TransientError } from '../lease/errors.js';
import type { Holder, PumpResult } from '../lease/pump.js';
import type { QueueDefinition } from '../lease/queues.js';
import { classifyMissed, doneVerb, succeedWithin } from '../lease/settle.js';
import { redacted, type Logger } from '../log.js';
import type { Breaker } from './breaker.js';
import type { Done, Handler, Outcome, Work } from '../lease/handler.js';
import { DrainedError, type Held } from './held.js';

/** Errors are shown on the row and read by people. */
const MAX_MESSAGE_CHARS = 2_000;
/** Between two tries to settle while the database is away (ms). */
const SETTLE_PAUSE_MS = 500;

export interface RunContext {
  queue: QueueDefinition;
  handler: Handler;
  holder: Holder;
  pool: pg.Pool;
  breaker: Breaker;
  log: Logger;
  registry: readonly QueueDefinition[];
}

export type RunEnd = { kind: 'ending'; ending: Ending } | { kind: 'settled'; result: PumpResult } | { kind: 'lost' };

/** Never rejects. */
export async function runLease(held: Held, context: RunContext): Promise<RunEnd> {
  try {
    const outcome = await context.handler(held.lease, new WorkOn(held, context));
    if (isLost(held)) return { kind: 'lost' };
    await context.breaker.succeeded(context.queue.table);
    return await succeed(held, outcome, context);
  } catch (error) {
    return failed(held, error, context);
  }
}

/** What the handler may use; made when it asks, since the smallest handlers never do. */
class WorkOn implements Work {
  constructor(private readonly held: Held, private readonly context: RunContext) {}
  get signal() { return this.held.signal; }
  get log() { return logOf(this.held, this.context); }
  get pool() { return this.context.pool; }
  get progress() { return (done: number, total: number) => { this.held.progress = { done: wholeNumber(done), total: wholeNumber(total) }; }; }
  get outsideAnswered() { return () => void this.context.breaker.succeeded(this.context.queue.table); }
}

function logOf(held: Held, context: RunContext): Logger {
  return context.log.child({ queue: held.lease.queue, row: held.lease.id, leaseToken: held.lease.token });
}

async function succeed(held: Held, outcome: Outcome, context: RunContext): Promise<RunEnd> {
  if ('wait' in outcome) return { kind: 'ending', ending: { ...keyOf(held), verb: 'wait', delayMs: outcome.wait } };
  if (!outcome.apply && !outcome.set) return { kind: 'ending', ending: { ...keyOf(held), verb: 'succeed' } };
  held.settling = true;
  try {
    return await settleUntilDeadline(held, outcome, context);
  } finally {
    held.settling = false;
  }
}

/** A lost answer or an outage is tried again until the local deadline; beats keep moving that deadline while the database answers. */
async function settleUntilDeadline(held: Held, outcome: Done, context: RunContext): Promise<RunEnd> {
  while (!isLost(held)) {
    try {
      const result = await inTransaction(context.pool, (tx) => succeedWithin(tx, context.queue, context.holder, held.lease, outcome, context.registry));
      return { kind: 'settled', result };
    } catch (error) {
      if (error instanceof LeaseLostError) return afterMissedSettle(held, outcome, context);
      if (!isConnectionError(error)) throw error;
      if (performance.now() >= held.deadline) break;
      await new Promise((resolve) => setTimeout(resolve, SETTLE_PAUSE_MS));
    }
  }
  return { kind: 'lost' };
}

async function afterMissedSettle(held: Held, outcome: Done, context: RunContext): Promise<RunEnd> {
  const ending: Ending = { ...keyOf(held), verb: doneVerb(outcome) };
  const already = (await classifyMissed(context.pool, context.queue, context.holder, [ending])).get(ending) === 'already';
  return already ? { kind: 'settled', result: { claimed: [], claimLimit: 0, ended: [{ ...keyOf(held), state: outcome.await ? 'awaiting' : 'succeeded' }], missed: [], parents: [], lowWaterMark: '-infinity' } } : { kind: 'lost' };
}

async function failed(held: Held, error: unknown, context: RunContext): Promise<RunEnd> {
  const reason = held.stoppedBy;
  if (reason instanceof LeaseLostError || error instanceof LeaseLostError) return { kind: 'lost' };
  if (reason instanceof DrainedError) return { kind: 'ending', ending: { ...keyOf(held), verb: 'drain' } };
  const ending = await endingOf(held, error, context);
  report(logOf(held, context), error, ending);
  return { kind: 'ending', ending };
}

/** A verdict of the handler on its input (a scan without text) is an answer, not a fault of ours: no warning, and no stack of where it was found. */
function report(log: Logger, error: unknown, { verb, code, message }: Ending): void {
  if (error instanceof PermanentError && !(error.cause instanceof Error)) log.info({ event: 'lease_failed', verb, code }, message);
  else log.warn({ event: 'lease_failed', verb, code, err: error }, message);
}

async function endingOf(held: Held, error: unknown, context: RunContext): Promise<Ending> {
  const message = cleanText(redacted(textOf(error)).slice(0, MAX_MESSAGE_CHARS));
  if (error instanceof PermanentError) return { ...keyOf(held), verb: 'fail', code: error.code, message };
  if (error instanceof OutsideError) {
    const delayMs = await context.breaker.failed(context.queue.table, message, error.retryAfterMs);
    return { ...keyOf(held), verb: 'outage', code: error.code, message, delayMs };
  }
  if (isConnectionError(error) || isRetryable(error)) {
    return { ...keyOf(held), verb: 'outage', code: 'internal', message: `The database was away while this was worked on: ${message}`, delayMs: outageDelayMs(0, undefined) };
  }
  const code = error instanceof TransientError ? error.code : 'internal';
  return { ...keyOf(held), verb: 'retry', code, message, delayMs: retryDelayMs(held.lease.attempt) };
}

/** Whatever was thrown, also what cannot be turned into text. */
function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'Something was thrown that has no text.';
  }
}

function keyOf(held: Held): { id: string; token: string } {
  return { id: held.lease.id, token: held.lease.token };
}

/** Progress is written by the beat that renews every lease of the process: a number that Postgres refuses would lose them all. */
function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.min(2_147_483_647, Math.trunc(value))) : 0;
}

function isLost(held: Held): boolean {
  return held.stoppedBy instanceof LeaseLostError;
}
