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
import { RECONCILE_BATCH, reconcileParents } from './reconcile.js';
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
    for (const step of [takeBackExpired, tickClock, expireBytes, repairParents]) {
      let found: Found | undefined;
      do {
        found = await underLock(pool, (tx) => step(tx, options, queue, registry));
        if (!found) return report;
        add(report, found);
      } while (found.more);
    }
  }
  await underLock(pool, (tx) => housekeeping(tx, options, report, performance.now() - started));
  return report;
}

/** What one step has done, once it is committed (a step may run again after a deadlock). `more`: a full batch was found, another may wait. */
interface Found {
  requeued?: string[];
  failed?: string[];
  expired?: string[];
  reconciled?: string[];
  changed: { table: string; ids: string[] }[];
  more: boolean;
}

/**
 * A step is one transaction with one statement that locks: each takes children before parents by itself, and two of them in one transaction
 * would hold the parents of the first while they wait for those of the second, which a settle takes in the opposite order.
 */
type Step = (tx: pg.PoolClient, options: SweepOptions, queue: QueueDefinition, registry: readonly QueueDefinition[]) => Promise<Found>;

const takeBackExpired: Step = async (tx, options, queue, registry) => {
  const { requeued, failed, parents } = await sweepExpired(tx, queue, options.maxLostLeases, registry);
  if (requeued.length > 0) await kick(tx, options, { q: queue.table, low: true });
  if (queue.parent && parents.length > 0) await kick(tx, options, { q: queue.parent.queue, low: true });
  return { requeued, failed, changed: changes(queue, [...requeued, ...failed], parents), more: requeued.length + failed.length >= SWEEP_BATCH };
};

const tickClock: Step = async (tx, options, queue) => {
  await tickStagedClock(tx, queue, options.sweepSeconds);
  return { changed: [], more: false };
};

const expireBytes: Step = async (tx, options, queue, registry) => {
  if (!queue.staged) return { changed: [], more: false };
  const { expired, parents } = await expireStaged(tx, queue, options.stagedBytesTtlSeconds, registry);
  if (queue.parent && parents.length > 0) await kick(tx, options, { q: queue.parent.queue, low: true });
  return { expired, changed: changes(queue, expired, parents), more: expired.length >= SWEEP_BATCH };
};

const repairParents: Step = async (tx, options, queue, registry) => {
  const repaired = await reconcileParents(tx, queue, registry);
  if (repaired.some((row) => row.state === 'queued')) await kick(tx, options, { q: queue.table, low: true });
  const reconciled = repaired.map((row) => row.id);
  return { reconciled, changed: changes(queue, reconciled, []), more: reconciled.length >= RECONCILE_BATCH };
};

function changes(queue: QueueDefinition, ids: string[], parents: string[]): { table: string; ids: string[] }[] {
  return [{ table: queue.table, ids }, ...(queue.parent ? [{ table: queue.parent.queue, ids: parents }] : [])].filter((change) => change.ids.length > 0);
}

function add(report: SweepReport, found: Found): void {
  report.ran = true;
  report.requeued += found.requeued?.length ?? 0;
  report.failed += found.failed?.length ?? 0;
  report.expired += found.expired?.length ?? 0;
  report.reconciled += found.reconciled?.length ?? 0;
  report.changed.push(...found.changed);
}

/** Runs `step` under the sweep's lock. @returns undefined when another process has it. */
async function underLock<T>(pool: pg.Pool, step: (tx: pg.PoolClient) => Promise<T>): Promise<T | undefined> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query('select pg_try_advisory_xact_lock($1::bigint) as locked', [SWEEP_LOCK]);
    return rows[0].locked ? step(tx) : undefined;
  });
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
