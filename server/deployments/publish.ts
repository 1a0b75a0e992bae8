/**
 * One publish request from claim to answer, in the web process: takes the lock or learns who has it, records a refusal, kicks a worker. It
 * never calls the orchestrator. Crash at any point: either nothing happened, or the row is `building` and any worker takes it up.
 */
import type pg from 'pg';
import { kick } from '../bus/kick.js';
import { errorCode, inTransaction } from '../db/connection.js';
import { deployments } from '../lease/queues.js';
import { insertLocked, takeLock, type Lock, type LockAnswer, type LockHolder } from './lock.js';
import type { PublishRequest } from './publish-request.js';
import { recordRefusal } from './refusals.js';

/** The row is only ever locked for one small statement or settling transaction; a longer wait (ms) means a sick database. */
const LOCK_LIMIT_MS = 8_000;
/** An app may be deleted, or its name freed, between the insert that failed and the look at who has it. */
const MAX_TRIES = 20;

export type Published =
  | { kind: 'accepted'; lock: Lock }
  | { kind: 'in_progress'; holder: LockHolder }
  | { kind: 'slug_taken' }
  | { kind: 'slug_fixed'; slug: string }
  | { kind: 'paused'; reason: string };

export interface PublishDesk {
  pool: pg.Pool;
  deadAfterSeconds: number;
  maxAttempts: number;
  kickChannel: string;
}

/** What the caller adds to the working transaction (a replayed answer, a kept one). May run again: no effects outside the transaction. */
export interface Around<T> {
  /** First of all; anything but undefined is the answer, and nothing is published. */
  before(tx: pg.PoolClient): Promise<T | undefined>;
  accepted(tx: pg.PoolClient, lock: Lock): Promise<void>;
}

/** @throws what the database throws; 55P03 when the row stayed locked. */
export async function publish<T>(desk: PublishDesk, request: PublishRequest, around: Around<T>): Promise<Published | { kind: 'replayed'; answer: T }> {
  for (let tried = 1; ; tried++) {
    try {
      return await inTransaction(desk.pool, (tx) => publishOnce(tx, desk, request, around), { timeoutMs: LOCK_LIMIT_MS * 2 });
    } catch (error) {
      const name = takenName(error);
      if (!name || tried >= MAX_TRIES) throw error;
      if (name === 'deployments_slug' && await isForeign(desk.pool, request)) {
        await recordRefusal(desk.pool, request, 'slug_taken', null);
        return { kind: 'slug_taken' };
      }
    }
  }
}

async function publishOnce<T>(tx: pg.PoolClient, desk: PublishDesk, request: PublishRequest, around: Around<T>): Promise<Published | { kind: 'replayed'; answer: T }> {
  await tx.query(`set local lock_timeout = ${LOCK_LIMIT_MS}`);
  const earlier = await around.before(tx);
  if (earlier !== undefined) return { kind: 'replayed', answer: earlier };
  const answer = await takeLock(tx, request, desk.deadAfterSeconds, desk.maxAttempts);
  if (answer.kind === 'taken') return accept(tx, desk, around, answer.lock);
  if (answer.kind !== 'none') return refuse(tx, request, answer);
  const lock = await insertLocked(tx, request, desk.maxAttempts);
  return lock ? accept(tx, desk, around, lock) : refuse(tx, request, { kind: 'paused', lock: null, reason: await pauseReason(tx) });
}

/** `low`: the row may have become claimable below the mark of a worker that has looked further while this transaction waited. */
async function accept<T>(tx: pg.PoolClient, desk: PublishDesk, around: Around<T>, lock: Lock): Promise<Published> {
  await kick(tx, desk, { q: deployments.table, low: true });
  await around.accepted(tx, lock);
  return { kind: 'accepted', lock };
}

async function refuse(tx: pg.PoolClient, request: PublishRequest, answer: Exclude<LockAnswer, { kind: 'taken' | 'none' }>): Promise<Published> {
  if (answer.kind === 'in_progress') {
    await recordRefusal(tx, request, 'publish_in_progress', answer.holder);
    return answer;
  }
  await recordRefusal(tx, request, answer.kind === 'paused' ? 'queue_paused' : 'slug_fixed', answer.lock);
  return answer.kind === 'paused' ? { kind: 'paused', reason: answer.reason } : { kind: 'slug_fixed', slug: answer.slug };
}

async function pauseReason(tx: pg.PoolClient): Promise<string> {
  const { rows } = await tx.query<{ reason: string }>('select reason from queue_pauses where queue = $1', [deployments.table]);
  return rows[0]?.reason ?? 'it was paused a moment ago';
}

/** Which of the two unique names the insert met: an own row (a double-click), or a slug that some row has. */
function takenName(error: unknown): 'deployments_project' | 'deployments_slug' | undefined {
  if (errorCode(error) !== '23505') return undefined;
  const { constraint } = error as { constraint?: string };
  return constraint === 'deployments_project' || constraint === 'deployments_slug' ? constraint : undefined;
}

/** False also when the holder has vanished meanwhile: then the name is free and the insert is tried again. */
async function isForeign(pool: pg.Pool, { slug, projectId }: PublishRequest): Promise<boolean> {
  const { rows } = await pool.query<{ foreign: boolean }>('select project_id <> $2 as foreign from deployments where slug = $1', [slug, projectId]);
  return rows[0]?.foreign ?? false;
}
