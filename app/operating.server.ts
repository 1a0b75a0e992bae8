import type { AppLoadContext } from '@remix-run/node';
import type { AnyAction } from '../server/operations/action.js';
import { operate } from '../server/operations/operate.js';
import { newSecret, secretHash } from '../server/operations/secret.js';
import { actorOf } from '~/actor.server';
import { requireOperator } from '~/require-operator.server';

/** What a form that may end with a secret is answered. The secret is in this answer and nowhere else. */
export interface FormAnswer {
  outcome: 'applied' | 'refused';
  code: string | null;
  text: string;
  secret: string | null;
}

/** One attempt from a posted form that carries `reason` and `attempt`. `fields` and `secret` are made anew for a repeated press, which is told so. */
export async function operateForm(context: AppLoadContext, form: URLSearchParams, action: AnyAction, fields: unknown, secret: string | null = null): Promise<FormAnswer> {
  const answer = await operate(context.world, action, {
    actor: actorOf(requireOperator(context)), via: 'page', fields, reason: form.get('reason') ?? undefined, attemptId: form.get('attempt') || undefined,
  });
  const { outcome, code, text } = answer;
  if (outcome === 'refused') return { outcome, code, text, secret: null };
  const lost = answer.repeated && secret !== null;
  return { outcome, code, text: lost ? `${text} That was an earlier press, and what it made was shown then. Revoke it and make another.` : text, secret: answer.repeated ? null : secret };
}

/** A secret in the form that is handed out, and the one that is kept. */
export function makeSecret(prefix = ''): { text: string; sha256: string } {
  const text = prefix + newSecret();
  return { text, sha256: secretHash(text).toString('hex') };
}
