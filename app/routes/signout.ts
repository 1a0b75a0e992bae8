import type { ActionFunctionArgs } from '@remix-run/node';
import { redirect } from '@remix-run/node';
import { clearedSessionCookie } from '../../server/operations/session-cookie.js';
import { signOut } from '../../server/operations/sessions.js';

export function loader() {
  return redirect('/');
}

export async function action({ context }: ActionFunctionArgs) {
  if (context.operator) await signOut(context.world.pool, context.operator.sessionId);
  return redirect('/signin', { headers: { 'Set-Cookie': clearedSessionCookie(context.world.config) } });
}
