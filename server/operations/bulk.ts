/**
 * One action on many targets, for one reason, under one bulk id: each target through the same door, in a transaction of its own, one after the
 * other. What is refused or fails for one is said of that one and the rest goes on.
 *
 * Crash: what was answered is done and on record; what was not may be asked for again, since a target's attempt id is made of the bulk's and its
 * place among the targets: the same page sent twice finds the answers of the first time.
 */
import { v5 as uuidv5 } from 'uuid';
import type { AnyAction } from './action.js';
import { operate, type Answer, type OperateRequest, type OperationsWorld } from './operate.js';

/** Targets in one call: some seconds of work. A page sends larger selections in several calls under the same bulk id and adds up the answers. */
export const MAX_BULK = 200;

export interface BulkRequest extends Pick<OperateRequest, 'actor' | 'reason' | 'confirmation'> {
  /** Made where the button is, once a press; the audit rows carry it. A UUID. */
  bulkId: string;
  /** The fields of each target, at most MAX_BULK. */
  targets: readonly unknown[];
  /** Where these stand in the whole selection, if it is sent page by page (0 for the first). */
  offset?: number;
  via?: 'bulk' | 'api';
  /** Looked at between two targets; what has been done stays done. */
  signal?: AbortSignal;
  /** Told of each answer as it is there. */
  onAnswer?(answer: BulkAnswer): void;
}

export interface BulkAnswer extends Omit<Answer, 'outcome'> {
  /** Place among all targets, from 0. */
  index: number;
  /** failed: the database could not be asked; nothing is known to have been changed. skipped: the signal came first. */
  outcome: Answer['outcome'] | 'failed' | 'skipped';
}

export interface BulkResult {
  bulkId: string;
  /** One a target, in their order. */
  answers: BulkAnswer[];
  counts: Record<BulkAnswer['outcome'], number>;
  /** `7 released, 2 refused: lease renewed` */
  summary: string;
}

/** @throws RangeError for more than MAX_BULK targets, before anything is done; nothing else. */
export async function operateEach(world: OperationsWorld, action: AnyAction, request: BulkRequest): Promise<BulkResult> {
  const { targets, offset = 0, signal } = request;
  if (targets.length > MAX_BULK) throw new RangeError(`At most ${MAX_BULK} targets in one call; got ${targets.length}. Send them in several.`);
  const answers: BulkAnswer[] = [];
  for (const [n, fields] of targets.entries()) {
    const answer = signal?.aborted ? skipped(offset + n) : await one(world, action, request, fields, offset + n);
    answers.push(answer);
    request.onAnswer?.(answer);
  }
  return { bulkId: request.bulkId, answers, counts: countsOf(answers), summary: summaryOf(action, answers) };
}

async function one(world: OperationsWorld, action: AnyAction, { actor, reason, confirmation, bulkId, via = 'bulk' }: BulkRequest, fields: unknown, index: number): Promise<BulkAnswer> {
  try {
    return { index, ...(await operate(world, action, { actor, via, fields, reason, confirmation, bulkId, attemptId: attemptIdOf(bulkId, index) })) };
  } catch (error) {
    world.log.error({ event: 'bulk_action_failed', action: action.name, bulkId, index, err: error }, 'One target of a bulk action failed; the others go on');
    return { index, outcome: 'failed', code: 'failed', text: 'The database could not do this one; nothing is known to have been changed. Press again: what was done is not done twice.', now: null };
  }
}

/** @throws TypeError when the bulk id is no UUID: it comes from our own page. */
function attemptIdOf(bulkId: string, index: number): string {
  return uuidv5(String(index), bulkId);
}

function skipped(index: number): BulkAnswer {
  return { index, outcome: 'skipped', code: 'stopped', text: 'Stopped before this one; nothing was changed.', now: null };
}

function countsOf(answers: readonly BulkAnswer[]): BulkResult['counts'] {
  const counts = { applied: 0, refused: 0, failed: 0, skipped: 0 };
  for (const { outcome } of answers) counts[outcome] += 1;
  return counts;
}

/** Past participles, for counting. */
const DONE: Readonly<Record<string, string>> = {
  release: 'released', force_release: 'released by force', rekick: 're-kicked', cancel: 'cancelled', clear_lock: 'cleared', reset_sources: 'reset',
  drain: 'drained', resume: 'resumed', pause_queue: 'paused', resume_queue: 'resumed', erase_user: 'erased',
};
/** What a refusal means when it is one of many. */
const BECAUSE: Readonly<Record<string, string>> = {
  lease_valid: 'lease renewed', already_released: 'released already', already_queued: 'queued again already', reclaimed: 'taken by another worker', input_gone: 'input gone',
  cap_reached: 'cap reached', not_found: 'gone', not_allowed: 'not allowed', read_only: 'read-only', already_asked: 'asked for already', busy: 'being written just now',
  analysis_in_progress: 'analysed already', queue_paused: 'queue paused', outcome_unknown: 'outcome unknown', invalid_input: 'not readable', confirmation_mismatch: 'not confirmed', reason_required: 'no reason',
};

/** `7 released, 2 refused: lease renewed`; several reasons with their counts, most frequent first. Also for the answers of several calls. */
export function summaryOf(action: Pick<AnyAction, 'name'>, answers: readonly BulkAnswer[]): string {
  const { applied, refused, failed, skipped: left } = countsOf(answers);
  const parts = [
    ...(applied > 0 || answers.length === 0 ? [`${applied} ${DONE[action.name] ?? 'done'}`] : []),
    ...(refused > 0 ? [`${refused} refused: ${reasonsOf(answers)}`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []), ...(left > 0 ? [`${left} not tried`] : []),
  ];
  return parts.join(', ');
}

function reasonsOf(answers: readonly BulkAnswer[]): string {
  const counts = new Map<string, number>();
  for (const { outcome, code } of answers) if (outcome === 'refused') counts.set(code!, (counts.get(code!) ?? 0) + 1);
  const sorted = [...counts].sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
  const words = ([code, n]: [string, number]) => `${sorted.length > 1 ? `${n} ` : ''}${BECAUSE[code] ?? code.replaceAll('_', ' ')}`;
  return sorted.map(words).join(', ');
}
