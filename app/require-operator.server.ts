import type { AppLoadContext } from '@remix-run/node';
import { redirect } from '@remix-run/node';
import type { Operator } from '../server/http/load-context.js';

/** The second lock on the door (the first is server/http/gate.ts): a loader or action that reads anything begins with it. */
export function requireOperator(context: AppLoadContext): Operator {
  if (!context.operator) throw redirect('/signin');
  return context.operator;
}
