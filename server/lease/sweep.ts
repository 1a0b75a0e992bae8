/**
 * The slow but correct path. Any process may run it, one does at a time: each step is a short transaction that begins with
 * pg_try_advisory_xact_lock, and a process that does not get the lock does nothing. It takes back expired leases, expires staged bytes,
 * repairs parents, marks silent processes gone, ends redeploys, rolls up the minute samples and records that it ran. It never touches a
 * live lease, never enqueues what exists, never fails what runs; a crash between two steps leaves work for the next run. Boot recovery is
 * this and nothing more.
 */
import type pg from 'pg';
import { kick } from '../bus/kick.js';
import { inTransaction } from '../db/connection.js';
import { sweepExpired, SWEEP_BATCH } from './expiry.js';
import { markSilentGone } from './processes.js';
import { queues, type QueueDefinition } from './queues.js';
import { endRedeploys } from './redeploys.js';
import { reconcileParents } from './reconcile.js';
import { rollUpMinutes } from './samples.js';
import { expireStaged, tickStagedClock } from './staged.js';

/** Advisory lock key of the sweep ("sweep" as ASCII). */
const SWEEP_LOCK = 0x7377656570;

export interface SweepOptions {
  workerId: string;
  version: string;
  maxLostLeases: number;
  stagedBytesTtlSeconds: number;
  sweepSeconds: number;
  kickChannel: string;
}

export interface SweepReport {
  /** False: another process was sweeping, nothing was done. */
  ran: boolean;
  requeued: number;
  failed: number;
  expired: number;
  reconciled: number;
  goneProcesses: number;
  /** Rows changed, for the hints to consoles. */
  changed: { table: string; ids: string[] }[];
}

/** @throws what the connection throws; whatever was committed until then stays. Call with no transaction open. */
export async function sweep(pool: pg.Pool, options: SweepOptions, registry = queues): Promise<SweepReport> {
  const report: SweepReport = { ran: false, requeued: 0, failed: 0, expired: 0, reconciled: 0, goneProcesses: 0, changed: [] };
  const started = performance.now();
  for (const queue of registry) {
    while (await sweepStep(pool, options, queue, report, registry));
    if (!report.ran) return report;
  }
  await underLock(pool, (tx) => housekeeping(tx, options, report, performance.now() - started));
  return report;
}

/** Runs `step` under the sweep's lock. @returns undefined when another process has it. */
async function underLock<T>(pool: pg.Pool, step: (tx: pg.PoolClient) => Promise<T>): Promise<T | undefined> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query('select pg_try_advisory_xact_lock($1::bigint) as locked', [SWEEP_LOCK]);
    return rows[0].locked ? step(tx) : undefined;
  });
}

/** @returns whether a full batch was found, so that another may wait. */
async function sweepStep(pool: pg.Pool, options: SweepOptions, queue: QueueDefinition, report: SweepReport, registry: readonly QueueDefinition[]): Promise<boolean> {
  const step = await underLock(pool, async (tx) => {
    const swept = await sweepExpired(tx, queue, options.maxLostLeases, registry);
    if (queue.staged) await tickStagedClock(tx, queue, options.sweepSeconds);
    const expired = await expireStaged(tx, queue, options.stagedBytesTtlSeconds, registry);
    const parents = await reconcileParents(tx, queue, registry);
    if (swept.requeued.length > 0 || parents.some((row) => row.state === 'queued')) await kick(tx, options, { q: queue.table, low: true });
    if (queue.parent && (swept.parentsQueued.length > 0 || expired.length > 0)) await kick(tx, options, { q: queue.parent.queue, low: true });
    return { swept, expired, parents };
  });
  if (!step) return false;
  report.ran = true;
  report.requeued += step.swept.requeued.length;
  report.failed += step.swept.failed.length;
  report.expired += step.expired.length;
  report.reconciled += step.parents.length;
  report.changed.push({ table: queue.table, ids: [...step.swept.requeued, ...step.swept.failed, ...step.expired, ...step.parents.map((row) => row.id)] });
  return step.swept.requeued.length + step.swept.failed.length >= SWEEP_BATCH || step.expired.length >= SWEEP_BATCH;
}

async function housekeeping(tx: pg.PoolClient, options: SweepOptions, report: SweepReport, tookMs: number): Promise<void> {
  report.goneProcesses = await markSilentGone(tx);
  await endRedeploys(tx);
  await rollUpMinutes(tx);
  await tx.query(
    `update sweeps set last_run_at = now(), last_worker_id = $1, last_version = $2, last_took_ms = $3, last_requeued = $4, last_failed = $5,
            last_reconciled = $6, interval_seconds = $7`,
    [options.workerId, options.version, Math.round(tookMs), report.requeued, report.failed, report.reconciled, options.sweepSeconds],
  );
}
