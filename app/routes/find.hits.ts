import type { LoaderFunctionArgs } from '@remix-run/node';
import { find } from '../../server/console/find.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { requireOperator } from '~/require-operator.server';

/** What the palette asks while somebody types: a FindAnswer, or null when the database did not answer in time. */
export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const text = new URL(request.url).searchParams.get('q') ?? '';
  return Response.json(await unlessTooSlow(find(context.world.kysely, text, context.closed)), { headers: { 'Cache-Control': 'no-store' } });
}
