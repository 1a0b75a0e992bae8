import type { ActionFunctionArgs, AppLoadContext, LoaderFunctionArgs } from '@remix-run/node';
import { unlessTooSlow } from '../../server/console/read.js';
import { readRowPage } from '../../server/console/row-page.js';
import { actionByName } from '../../server/operations/actions.js';
import { operate, preflight, type Answer } from '../../server/operations/operate.js';
import { rowFields } from '../../server/operations/row-fields.js';
import type { CardView } from '~/acting';
import { actorOf } from '~/actor.server';
import { readForm } from '~/form.server';
import { requireOperator } from '~/require-operator.server';

const headers = { 'Cache-Control': 'no-store' };

/** For the card: what the action would do now, from its own statement, run and rolled back; and the row that it is about. */
export async function loader({ context, params, request }: LoaderFunctionArgs) {
  const operator = requireOperator(context);
  const action = knownAction(params.action);
  const fields = Object.fromEntries(new URL(request.url).searchParams);
  const judged = await preflight(context.world, action, { actor: actorOf(operator), fields });
  const { guard, consequence } = action;
  const view: CardView = { guard, consequence, judged, page: await rowOf(context, fields) };
  return Response.json(view, { headers });
}

/** One attempt. A refusal is an answer like another; only what this person may never do here has a status of its own. */
export async function action({ context, params, request }: ActionFunctionArgs) {
  const operator = requireOperator(context);
  const action = knownAction(params.action);
  const { reason, confirmation, attempt, ...fields } = Object.fromEntries(await readForm(request));
  const answer = await operate(context.world, action, { actor: actorOf(operator), via: 'page', fields, reason, confirmation, attemptId: attempt });
  return Response.json(answer, { status: statusOf(answer), headers });
}

function knownAction(name: string | undefined) {
  const action = actionByName(name);
  if (!action) throw new Response('There is no action of this name. Nothing was changed; reload the page and try again.', { status: 404 });
  return action;
}

function statusOf({ code }: Answer): number {
  return code === 'not_allowed' || code === 'read_only' ? 403 : 200;
}

/** Null for what is no row, or not there (any more). */
async function rowOf({ world }: AppLoadContext, fields: Record<string, string>) {
  const row = rowFields.safeParse(fields);
  return row.success ? unlessTooSlow(readRowPage(world.kysely, row.data.queue, row.data.id)) : null;
}
