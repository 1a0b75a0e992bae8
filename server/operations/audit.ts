/** One row an attempt in operator_actions, written once and never changed. Secrets are taken out of what a person typed. */
import { redacted } from '../log.js';
import { cleanText } from '../db/text.js';
import type { Queryable } from '../lease/pump.js';
import type { Actor, Snapshot, Target } from './action.js';

const MAX_TEXT_CHARS = 1_000;

export interface Attempt {
  attemptId: string;
  actor: Actor;
  via: 'page' | 'bulk' | 'cli' | 'api';
  bulkId?: string | undefined;
  action: string;
  target: Target;
  reason: string | null;
}

export interface Judged {
  outcome: 'applied' | 'refused';
  refusal: string | null;
  /** The sentence that the person was told. */
  answer: string;
  before: Snapshot | null;
  after: Snapshot | null;
}

/** Writes the attempt. @returns false when this very attempt is on record already: the transaction must then be rolled back, since its first run took effect. */
export async function recordAttempt(db: Queryable, attempt: Attempt, judged: Judged): Promise<boolean> {
  const { attemptId, actor, via, bulkId, action, target, reason } = attempt;
  const { rowCount } = await db.query({
    text: `insert into operator_actions (attempt_id, actor_kind, actor_id, actor_name, actor_role, via, bulk_id, action, target_kind, target_id, queue, row_id, user_id, session_id,
                                         reason, outcome, refusal, answer, before, after)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) on conflict (attempt_id) do nothing`,
    values: [
      attemptId, actor.kind, actor.id, safe(actor.name), actor.role, via, bulkId ?? null, action, target.kind, safe(target.id), target.queue ?? null, target.rowId ?? null,
      target.userId ?? null, target.sessionId ?? null, reason === null ? null : safe(reason), judged.outcome, judged.refusal, safe(judged.answer), json(judged.before), json(judged.after),
    ],
  });
  return rowCount === 1;
}

export interface RecordedAttempt {
  action: string;
  target: string;
  actor: string;
  outcome: 'applied' | 'refused';
  refusal: string | null;
  answer: string;
  before: Snapshot | null;
  after: Snapshot | null;
}

/** What became of an attempt that was made before. */
export async function readAttempt(db: Queryable, attemptId: string): Promise<RecordedAttempt | undefined> {
  const { rows } = await db.query({ text: `select action, target_id as target, actor_name as actor, outcome, refusal, answer, before, after from operator_actions where attempt_id = $1`, values: [attemptId] });
  return rows[0] as unknown as RecordedAttempt | undefined;
}

/**
 * Who applied one of these actions to this target last, and how long ago (seconds on the database clock): words for a person who came second.
 * `userId`: whose target, where ids are the user's own (a session).
 */
export async function whoWasFirst(db: Queryable, targetId: string, actions: readonly string[], userId?: string): Promise<Snapshot> {
  const { rows } = await db.query({
    text: `select actor_name as "firstBy", extract(epoch from clock_timestamp() - at)::float8 as "firstAgo" from operator_actions
            where target_id = $1 and outcome = 'applied' and action = any ($2) and ($3::text is null or user_id = $3) order by id desc limit 1`,
    values: [targetId, actions, userId ?? null],
  });
  return (rows[0] as Snapshot | undefined) ?? {};
}

/** As a text is kept: without secrets and control characters, and not endless. */
export function safe(text: string): string {
  return redacted(cleanText(text)).slice(0, MAX_TEXT_CHARS);
}

function json(snapshot: Snapshot | null): string | null {
  return snapshot === null ? null : redacted(JSON.stringify(snapshot));
}
