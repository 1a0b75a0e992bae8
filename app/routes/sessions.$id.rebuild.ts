import type { ActionFunctionArgs } from '@remix-run/node';
import { tryRebuild, type RebuildAnswer } from '../../server/console/session-rebuild.js';
import { parseSessionAddress } from '../../server/console/sessions.js';
import { requireOperator } from '~/require-operator.server';

/** Changes nothing; a POST because it is work, which no link preview and no prefetch may start. Counts only: any role may ask. */
export async function action({ context, params, request }: ActionFunctionArgs): Promise<RebuildAnswer | { outcome: 'failed' }> {
  requireOperator(context);
  const { sessionId, userId } = parseSessionAddress(params.id ?? '', new URL(request.url).searchParams);
  if (userId === null) throw new Response('This address does not say whose session it is. Open the session from its list.', { status: 400 });
  try {
    return await tryRebuild(context.world.pool, { userId, sessionId }, { signal: context.closed });
  } catch (error) {
    context.world.log.warn({ event: 'rebuild_trial_failed', error }, 'The trial of rebuilding a session\'s index failed');
    return { outcome: 'failed' };
  }
}
