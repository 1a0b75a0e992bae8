import type { AppLoadContext } from '@remix-run/node';
import type { Operator } from '../server/http/load-context.js';
import { mayAct } from '../server/operations/action.js';
import type { OperatorRole } from '../server/operations/accounts.js';
import { requireOperator } from '~/require-operator.server';

/** The signed-in person, if their role reaches this far; a 403 page that says whose page it is otherwise. */
export function requireRole(context: AppLoadContext, role: OperatorRole): Operator {
  const operator = requireOperator(context);
  if (mayAct(operator.role, role)) return operator;
  throw new Response(`This page is for the role ${role}; yours is ${operator.role}. Ask an admin, or see your own account under Settings.`, { status: 403 });
}
