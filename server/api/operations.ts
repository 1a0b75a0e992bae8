/**
 * POST /api/operations/:action: what a button of the console does, for operators' scripts, through the same door. The token acts in the role that
 * its scope gives it and is named in the audit. With an Idempotency-Key a repeated call finds the answer of the first, also a refusal: to try again
 * is another attempt and needs another key.
 */
import { v5 as uuidv5 } from 'uuid';
import { z } from 'zod';
import { actionByName, actions } from '../operations/actions.js';
import { operate, type Answer, type OperationsWorld } from '../operations/operate.js';
import { Problem } from './problem.js';
import type { ApiCaller } from './token.js';

export interface OperationCall {
  action: string;
  /** Unread: the action's fields beside `reason` and, where the action asks for one, `confirmation`. */
  body: unknown;
  caller: ApiCaller;
  key: string | undefined;
}

const called = z.looseObject({ reason: z.string().optional(), confirmation: z.string().optional() });

/** Refusals that are not 409: nothing of this id, not for this token, not readable, not known. */
const STATUS: Readonly<Record<string, number>> = { not_found: 404, not_allowed: 403, read_only: 403, invalid_input: 400, reason_required: 400, confirmation_mismatch: 400, attempt_reused: 422, outcome_unknown: 503 };

/** Throws a Problem for every refusal, with the action's own code; `now` is the target as it is. */
export async function answerOperation(world: OperationsWorld, { action: name, body, caller, key }: OperationCall): Promise<Answer> {
  const action = actionByName(name);
  if (!action) throw new Problem(404, 'no_such_action', `There is no action of this name; there are ${actions.map((one) => one.name).join(', ')}. Nothing was changed.`);
  const read = called.safeParse(body);
  if (!read.success) throw new Problem(400, 'invalid_input', 'This call needs a JSON object with the fields of the action and a reason. Nothing was changed.');
  const { reason, confirmation, ...fields } = read.data;
  const answer = await operate(world, action, {
    actor: { kind: 'token', id: caller.tokenId, name: caller.name, role: caller.scopes.includes('act:admin') ? 'admin' : 'operator' }, via: 'api', fields, reason, confirmation,
    attemptId: key === undefined ? undefined : uuidv5(key, caller.tokenId),
  });
  if (answer.outcome === 'refused') throw new Problem(STATUS[answer.code!] ?? 409, answer.code!, answer.text, { extra: { now: answer.now } });
  return answer;
}
