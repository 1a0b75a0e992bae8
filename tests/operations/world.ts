/** The one door over a test database: two people, two workers, the engine's own statements, and a picture of everything that an action might touch. */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { acquire } from '../../server/lease/acquire.js';
import type { Lease } from '../../server/lease/lease.js';
import type { Holder } from '../../server/lease/pump.js';
import type { QueueDefinition } from '../../server/lease/queues.js';
import { createLogger } from '../../server/log.js';
import type { Actor } from '../../server/operations/action.js';
import { actionByName, type ActionName } from '../../server/operations/actions.js';
import { operate, type Answer, type OperateRequest, type OperationsWorld } from '../../server/operations/operate.js';
import type { TestDatabase } from '../support/database.js';
import { insertWorker } from '../support/factories.js';
import { alice, bob } from '../lease/world.js';

export const ada: Actor = { kind: 'operator', id: uuidv7(), name: 'ada', role: 'admin' };
export const grace: Actor = { kind: 'operator', id: uuidv7(), name: 'grace', role: 'admin' };
export const cleo: Actor = { kind: 'operator', id: uuidv7(), name: 'cleo', role: 'operator' };

export const ALL = ['parse', 'citations', 'publish'];

export interface Desk {
  db: TestDatabase;
  pool: pg.Pool;
  world: OperationsWorld;
  /** Ids that consoles were told to read again. */
  hinted: string[];
}

export function openDesk(db: TestDatabase, pool = db.pool): Desk {
  const hinted: string[] = [];
  return { db, pool, hinted, world: { pool, config: db.config(), hints: { changed: (_table, ids) => hinted.push(...ids) }, log: createLogger({ level: 'silent', name: 'test' }) } };
}

export type Press = Partial<OperateRequest> & { actor?: Actor };

/** Presses a button with a reason, confirmed as the action asks for. */
export async function press({ world }: Desk, name: ActionName, fields: Record<string, unknown>, more: Press = {}): Promise<Answer> {
  const action = actionByName(name)!;
  const input = action.fields.safeParse(fields);
  const confirmation = input.success ? action.confirmation?.(input.data) : undefined;
  return operate(world, action, { actor: grace, via: 'page', reason: 'a test', confirmation, ...more, fields });
}

/** worker-1 (v1) is `alice`, worker-2 (v2) is `bob`. */
export async function registerWorkers(pool: pg.Pool): Promise<void> {
  await pool.query('delete from workers');
  await insertWorker(pool, { id: alice.workerId, label: 'worker-1', version: 'v1', capabilities: ALL });
  await insertWorker(pool, { id: bob.workerId, label: 'worker-2', version: 'v2', capabilities: ALL });
}

let claimed = 0;
/** Claims exactly this row, whatever else waits: it has been due for longer than any other. */
export async function claim(pool: pg.Pool, queue: QueueDefinition, holder: Holder, id: string): Promise<Lease> {
  await pool.query(`update ${queue.table} set run_after = timestamptz 'epoch' - $2 * interval '1 minute' where id = $1`, [id, ++claimed]);
  const [lease] = await acquire(pool, queue, holder, 1);
  if (lease?.id !== id) throw new Error(`expected to claim ${id}, got ${String(lease?.id)}`);
  return lease;
}

export async function expire(pool: pg.Pool, queue: QueueDefinition, id: string): Promise<void> {
  await pool.query(`update ${queue.table} set lease_expires_at = now() - interval '90 seconds' where id = $1`, [id]);
}

const TOUCHED = [
  'parse_items', 'parse_jobs', 'analysis_jobs', 'job_citations', 'deployments', 'deployment_attempts', 'documents', 'document_chunks', 'session_sources', 'queue_pauses', 'queue_events', 'workers', 'idempotency_keys',
];

/** Every row that an action might touch, the audit aside. Equal pictures: nothing was changed. */
export async function picture(pool: pg.Pool): Promise<Record<string, unknown>> {
  const columns = TOUCHED.map((table) => `(select coalesce(jsonb_agg(to_jsonb(t) order by to_jsonb(t)::text), '[]') from ${table} t) as ${table}`);
  return (await pool.query(`select ${columns.join(', ')}`)).rows[0];
}

export interface AuditRow { actor_name: string; via: string; action: string; target_kind: string; target_id: string; outcome: string; refusal: string | null; answer: string; reason: string | null; bulk_id: string | null; before: unknown; after: unknown }

/** The audit of one target, oldest first. */
export async function auditOf(pool: pg.Pool, targetId: string): Promise<AuditRow[]> {
  return (await pool.query<AuditRow>('select * from operator_actions where target_id = $1 order by id', [targetId])).rows;
}

/** Empties what tests share. */
export async function clearAll(pool: pg.Pool): Promise<void> {
  await pool.query(`delete from parse_items; delete from parse_jobs; delete from job_citations; delete from analysis_jobs; delete from deployments; delete from documents;
                    delete from queue_pauses; delete from queue_events; delete from operator_actions`);
}
