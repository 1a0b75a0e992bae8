/**
 * The one door through which anything is done by a person: page, bulk, keyboard, command line and API.
 *
 * permission → transaction → one conditional statement that repeats its guard and the token that was seen → audit row with before, after, reason
 * and outcome → kick; all of it commits or none of it. Hints to consoles go out after the commit. A refused attempt changed nothing; it is
 * recorded in a transaction of its own.
 *
 * Crash: before the commit nothing was done and nothing recorded. After it both were, and only the answer is lost: the same attempt (its id is
 * made where the button is) finds the answer of the first, so pressing again is safe. An outcome that is not known is said to be unknown.
 */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { kick } from '../bus/kick.js';
import type { Config } from '../config.js';
import { errorCode, inTransaction, isConnectionError } from '../db/connection.js';
import type { Logger } from '../log.js';
import { mayAct, type Actor, type AnyAction, type Applied, type Effect, type Refused, type Snapshot, type Target } from './action.js';
import { readAttempt, recordAttempt, safe, type Attempt, type Judged, type RecordedAttempt } from './audit.js';

/** Waiting for a row that its holder is just writing (ms). */
const LOCK_LIMIT_MS = 3_000;
const STATEMENT_LIMIT_MS = 30_000;
const MAX_REASON_CHARS = 500;
/** A lock or a statement that took too long, a deadlock or a serialization failure that came again at every try: nothing was written. */
const BUSY = ['55P03', '57014', '40P01', '40001'];

export interface OperationsWorld {
  pool: pg.Pool;
  config: Config;
  hints: { changed(table: string, ids: Iterable<string>): void };
  log: Logger;
}

/** What arrives from a form, the command line or the API, unread. */
export interface OperateRequest {
  actor: Actor;
  via: Attempt['via'];
  /** The action's own fields. */
  fields: unknown;
  reason?: string | undefined;
  confirmation?: string | undefined;
  /** Made by whoever asks, one a press. Left out: every call is an attempt of its own. */
  attemptId?: string | undefined;
  bulkId?: string | undefined;
}

/** Refusals that every action shares. */
export type CommonCode = 'not_found' | 'not_allowed' | 'read_only' | 'invalid_input' | 'reason_required' | 'confirmation_mismatch' | 'attempt_reused' | 'busy' | 'outcome_unknown';

export interface Answer {
  outcome: 'applied' | 'refused';
  /** Null when applied. */
  code: string | null;
  /** What is true now, and what to do next. */
  text: string;
  /** The target after the action, or as it is if it was refused; null when it does not exist or was not looked at. */
  now: Snapshot | null;
  /** The same attempt was answered before; nothing was done this time. */
  repeated?: true;
}

/** Performs `action`. Needs no transaction of the caller's. Never throws for what a request holds or a row says. @throws database errors other than a lost connection at the commit. */
export async function operate(world: OperationsWorld, action: AnyAction, request: OperateRequest): Promise<Answer> {
  const { actor, via, bulkId } = request;
  const reason = (request.reason ?? '').trim();
  const input = action.fields.safeParse(request.fields);
  const target: Target = input.success ? action.target(input.data) : { kind: 'system', id: action.name };
  const attempt: Attempt = { attemptId: request.attemptId ?? uuidv7(), actor, via, bulkId, action: action.name, target, reason: reason || null };
  // Whoever may not is told so, and recorded, whatever the request holds.
  if (!input.success) return mayAct(actor.role, action.permission) ? refusal('invalid_input', invalid(input.error, via)) : recordRefusal(world, attempt, notAllowed(actor, action));
  if (!z.uuid().safeParse(attempt.attemptId).success) return refusal('invalid_input', 'The id of this attempt is not a UUID. Reload the page and try again.');
  const barred = whyBarred(world.config, action, request, input.data);
  if (barred) return recordRefusal(world, attempt, barred);
  try {
    return await perform(world, action, input.data, attempt, reason);
  } catch (error) {
    return afterFailure(world, attempt, error);
  }
}

/** Permission, read-only mode, reason and typed confirmation: what is known before the database is asked. */
function whyBarred(config: Config, action: AnyAction, { actor, reason, confirmation }: OperateRequest, input: unknown): Answer | undefined {
  if (!mayAct(actor.role, action.permission)) return notAllowed(actor, action);
  // The command line is how a console is served while nobody may act in it.
  if (config.readOnly && actor.kind !== 'cli') return refusal('read_only', 'This console is read-only (READ_ONLY). Nothing was changed; act on the command line, or have the setting changed.');
  const given = (reason ?? '').trim();
  if (given === '') return refusal('reason_required', 'Say why: the reason is kept in the audit. Nothing was changed.');
  if (given.length > MAX_REASON_CHARS) return refusal('invalid_input', `The reason is longer than ${MAX_REASON_CHARS} characters. Nothing was changed; shorten it.`);
  const expected = action.confirmation?.(input);
  if (expected !== undefined && (confirmation ?? '').trim() !== expected) return refusal('confirmation_mismatch', `Type ${expected} to confirm. Nothing was changed.`);
  return undefined;
}

function notAllowed({ role }: Actor, { permission }: AnyAction): Answer {
  return refusal('not_allowed', `This needs the role ${permission}; yours is ${role}. Nothing was changed. Ask someone with that role.`);
}

/** Thrown to roll back what must not stand. */
class Withdrawn extends Error {
  constructor(readonly effect: Refused<string> | 'repeated') {
    super('withdrawn');
  }
}

async function perform(world: OperationsWorld, action: AnyAction, input: unknown, attempt: Attempt, reason: string): Promise<Answer> {
  const earlier = await readAttempt(world.pool, attempt.attemptId);
  if (earlier) return repeated(earlier, attempt);
  try {
    const { effect, text } = await inTransaction(world.pool, async (tx) => {
      const done = await act(tx, world, action, input, attempt.actor, reason);
      if (done.outcome === 'refused') throw new Withdrawn(done);
      const sentence = action.did(done, input);
      const recorded = await recordAttempt(tx, owned(attempt, done), { outcome: 'applied', refusal: null, answer: sentence, before: done.before, after: done.after });
      if (!recorded) throw new Withdrawn('repeated');
      for (const message of done.kicks) await kick(tx, world.config, message);
      return { effect: done, text: sentence };
    }, { timeoutMs: STATEMENT_LIMIT_MS });
    for (const { table, ids } of effect.changed) world.hints.changed(table, ids);
    world.log.info({ event: 'operator_action', action: action.name, outcome: 'applied', actor: attempt.actor.name, target: attempt.target.id }, text);
    return { outcome: 'applied', code: null, text, now: effect.after };
  } catch (error) {
    if (!(error instanceof Withdrawn)) throw error;
    if (error.effect === 'repeated') return repeated((await readAttempt(world.pool, attempt.attemptId))!, attempt);
    return recordRefusal(world, attempt, refusedAnswer(action, error.effect));
  }
}

/** The statement, with a bounded wait for locks. */
async function act(tx: pg.PoolClient, { config }: OperationsWorld, action: AnyAction, input: unknown, actor: Actor, reason: string, preview = false): Promise<Effect<string>> {
  await tx.query(`set local lock_timeout = ${LOCK_LIMIT_MS}`);
  const run = (preview && action.preview) || action.act;
  return run(tx, input, { config, actor, reason }) as Promise<Effect<string>>;
}

/** The target as the statement found it: whose row it was. */
function owned(attempt: Attempt, { owner }: Applied): Attempt {
  return owner ? { ...attempt, target: { ...attempt.target, ...owner } } : attempt;
}

function refusedAnswer(action: AnyAction, { code, now, facts }: Refused<string>): Answer {
  const say = action.refusals[code] as ((facts: Snapshot) => string) | undefined;
  return { outcome: 'refused', code, text: say ? say({ ...now, ...facts }) : common(code), now };
}

function common(code: string): string {
  if (code === 'busy') return 'Someone is writing this right now, so it could not be judged. Nothing was changed; try again in a few seconds.';
  return 'There is nothing of this id. It may have been removed by retention or erased; nothing was changed.';
}

async function recordRefusal(world: OperationsWorld, attempt: Attempt, answer: Answer): Promise<Answer> {
  const judged: Judged = { outcome: 'refused', refusal: answer.code, answer: answer.text, before: answer.now, after: answer.now };
  const recorded = await recordAttempt(world.pool, attempt, judged);
  world.log.info({ event: 'operator_action', action: attempt.action, outcome: 'refused', code: answer.code, actor: attempt.actor.name, target: attempt.target.id }, answer.text);
  return recorded ? answer : repeated((await readAttempt(world.pool, attempt.attemptId))!, attempt);
}

/** A lost connection may have lost the answer to a commit that stands; a lock that stays taken is a refusal like another. */
async function afterFailure(world: OperationsWorld, attempt: Attempt, error: unknown): Promise<Answer> {
  if (BUSY.includes(errorCode(error))) return recordRefusal(world, attempt, refusal('busy', common('busy')));
  if (!isConnectionError(error)) throw error;
  world.log.warn({ event: 'operator_action_unknown', action: attempt.action, target: attempt.target.id, err: error }, 'The connection was lost while an action was under way');
  const recorded = await readAttempt(world.pool, attempt.attemptId).catch(() => undefined);
  return recorded ? repeated(recorded, attempt) : refusal('outcome_unknown', 'The connection to the database was lost, so it is not known whether this took effect. Press again: the same attempt is never done twice.');
}

function repeated(recorded: RecordedAttempt, attempt: Attempt): Answer {
  const same = recorded.action === attempt.action && recorded.actor === safe(attempt.actor.name) && recorded.target === safe(attempt.target.id);
  if (!same) return refusal('attempt_reused', 'This attempt was used for something else already. Nothing was changed; reload the page, or send another key, and try again.');
  return { outcome: recorded.outcome, code: recorded.refusal, text: recorded.answer, now: recorded.after, repeated: true };
}

function refusal(code: CommonCode, text: string): Answer {
  return { outcome: 'refused', code, text, now: null };
}

function invalid(error: z.ZodError, via?: Attempt['via']): string {
  const issues = error.issues.map((issue) => `${issue.path.join('.') || 'the request'}: ${issue.message}`);
  return `This request could not be read (${issues.join('; ')}). Nothing was changed; ${via === 'cli' || via === 'api' ? 'correct it' : 'reload the page'} and try again.`;
}

export type Preflight =
  | { possible: true; text: string; before: Snapshot; after: Snapshot; confirmation: string | null }
  | { possible: false; code: string; text: string; now: Snapshot | null };

/**
 * What would happen now: the very statement of the action, run and rolled back. Records nothing. A transaction of its own; locks the row for
 * as long as the statement takes.
 */
export async function preflight(world: OperationsWorld, action: AnyAction, request: Pick<OperateRequest, 'actor' | 'fields'>): Promise<Preflight> {
  const input = action.fields.safeParse(request.fields);
  if (!input.success) return { possible: false, code: 'invalid_input', text: invalid(input.error), now: null };
  const confirmation = action.confirmation?.(input.data) ?? null;
  const barred = whyBarred(world.config, action, { ...request, via: 'page', reason: 'preflight', confirmation: confirmation ?? undefined }, input.data);
  if (barred) return { possible: false, code: barred.code!, text: barred.text, now: null };
  const effect = await rehearse(world, action, input.data, request.actor);
  if (effect.outcome === 'applied') return { possible: true, text: action.consequence, before: effect.before, after: effect.after, confirmation };
  const { code, text, now } = refusedAnswer(action, effect);
  return { possible: false, code: code!, text, now };
}

class Rehearsed extends Error {
  constructor(readonly effect: Effect<string>) {
    super('rehearsed');
  }
}

async function rehearse(world: OperationsWorld, action: AnyAction, input: unknown, actor: Actor): Promise<Effect<string>> {
  try {
    return await inTransaction(world.pool, async (tx): Promise<never> => {
      throw new Rehearsed(await act(tx, world, action, input, actor, 'preflight', true));
    }, { timeoutMs: STATEMENT_LIMIT_MS });
  } catch (error) {
    if (error instanceof Rehearsed) return error.effect;
    if (BUSY.includes(errorCode(error))) return { outcome: 'refused', code: 'busy', now: null };
    throw error;
  }
}
