/**
 * Workers in this process over a queue of the tests' own (`test_rows`, no parent), with handlers that the test opens and closes. Clocks are short:
 * lease 4 s, beat 1 s, sweep 1 s, poll 1 s, drain 2 s.
 */
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../server/config.js';
import { enqueue } from '../../server/lease/enqueue.js';
import type { Handlers } from '../../server/lease/handler.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import type { QueueDefinition } from '../../server/lease/queues.js';
import { createLogger } from '../../server/log.js';
import { createWorkerProcess, type WorkerProcess } from '../../server/worker/process.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { invariantSettings } from '../lease/world.js';

export const testRows: QueueDefinition = {
  table: 'test_rows', slug: 'test-rows', title: 'Test rows', noun: 'test row', purpose: 'Rows of a test.',
  states: ['queued', 'running', 'succeeded', 'failed', 'cancelled'], capability: 'parse', kinds: { test: 1 }, erased: [], claimColumns: ['name'], listColumns: ['name'],
};

/** A second queue in the same lane. */
export const otherRows: QueueDefinition = { ...testRows, table: 'other_rows', slug: 'other-rows' };
export const registry: readonly QueueDefinition[] = [testRows, otherRows];

const CREATE = `
  create table test_rows (like parse_items including all);
  alter table test_rows drop column job_id, drop column file_bytes, drop column content_sha256, drop column byte_size, drop column filename, drop column user_id, drop column session_id, drop column staged_clock;
  alter table test_rows add column name text not null default '', add column note text, alter column kind set default 'test';
  create index test_rows_claimable on test_rows (run_after, id) where state = 'queued';
  create table other_rows (like test_rows including all)`;

export const clocks = { leaseSeconds: 4, heartbeatSeconds: 1, sweepSeconds: 1, pollSeconds: 1, drainSeconds: 2, workerConcurrency: 2 } as const;

export async function workerDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  await database.pool.query(CREATE);
  return database;
}

export async function add(db: pg.Pool | pg.PoolClient, names: readonly string[], queue = testRows): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const id = uuidv7();
    await enqueue(db, queue, { id, columns: { name } });
    ids.push(id);
  }
  return ids;
}

export interface WorkRow { id: string; name: string; state: string; attempt: number; lost_leases: number; lease_token: string; worker_id: string | null; error_code: string | null; error_message: string | null; note: string | null; done: number | null; total: number | null; version: string }

export async function row(db: pg.Pool, id: string, queue = testRows): Promise<WorkRow> {
  const { rows } = await db.query(`select * from ${queue.table} where id = $1`, [id]);
  return rows[0] as WorkRow;
}

export async function stateCounts(db: pg.Pool, queue = testRows): Promise<Record<string, number>> {
  const { rows } = await db.query<{ state: string; n: number }>(`select state, count(*)::int as n from ${queue.table} group by state`);
  return Object.fromEntries(rows.map((one) => [one.state, one.n]));
}

export async function broken(db: pg.Pool): Promise<unknown[]> {
  return checkInvariants(db, invariantSettings, registry);
}

const started = new Set<{ stop(): Promise<void> }>();

export interface Started extends WorkerProcess { pool: pg.Pool; end(): Promise<void> }

/** Starts a worker; what a test leaves running is stopped by `stopAll`. */
export async function startWorker(database: TestDatabase, handlers: Handlers, overrides: Partial<Config> = {}, log = createLogger({ level: 'silent', name: 'test' })): Promise<Started> {
  const config = database.config({ ...clocks, ...overrides });
  const pool = new pg.Pool({ connectionString: config.databaseUrl, max: 4, connectionTimeoutMillis: 2_000 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const process = createWorkerProcess({ config, role: 'worker', pool, handlers, registry, log });
  let ended: Promise<void> | undefined;
  const end = () => (ended ??= process.stop(0.1).then(() => pool.end()));
  const one = { stop: end };
  started.add(one);
  await process.start();
  return { ...process, pool, end };
}

export async function stopAll(): Promise<void> {
  await Promise.all([...started].map((one) => one.stop()));
  started.clear();
}

/** A handler whose runs stay open until the test ends them. */
export class Gate {
  readonly runs: { id: string; name: string; token: string; signal: AbortSignal; finish(): void; fail(error: unknown): void }[] = [];
  most = 0;
  private open = 0;
  readonly handler: Handlers[string] = async (lease, work) => {
    this.most = Math.max(this.most, ++this.open);
    try {
      await new Promise<void>((resolve, reject) => {
        this.runs.push({ id: lease.id, name: String(lease.row.name), token: lease.token, signal: work.signal, finish: resolve, fail: reject });
        work.signal.addEventListener('abort', () => reject(work.signal.reason as Error), { once: true });
      });
    } finally {
      this.open -= 1;
    }
    return { succeed: true };
  };

  /** Waits for the n-th run (from 1). */
  async run(n: number, timeoutMs?: number) {
    return until(() => this.runs[n - 1], { what: `run ${n} of the handler`, ...(timeoutMs ? { timeoutMs } : {}) });
  }
}
