import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { readBulkRows } from '../../server/console/bulk-rows.js';
import { isUuid, parseQueueFilters } from '../../server/console/queue-filters.js';
import { queueOfUrl } from '../../server/console/queue-of-url.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { actionByName } from '../../server/operations/actions.js';
import { operateEach } from '../../server/operations/bulk.js';
import { actorOf } from '~/actor.server';
import { readForm } from '~/form.server';
import { requireOperator } from '~/require-operator.server';

const headers = { 'Cache-Control': 'no-store' };

/** A page is some seconds of work at most, so that progress is seen and a stop is soon obeyed. */
const MAX_ROWS = 10;

/** For the bulk card: the selected rows (`ids`), or all that match the filters of the list, as they are now. */
export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const query = new URL(request.url).searchParams;
  const queue = queueOfUrl(query.get('queue') ?? undefined);
  if (!queue) throw new Response('There is no queue of this name. Reload the page and try again.', { status: 404 });
  const ids = query.get('ids')?.split(',').filter(isUuid);
  const rows = await unlessTooSlow(readBulkRows(context.world.kysely, queue, ids ? { ids } : { filters: parseQueueFilters(query) }));
  if (!rows) throw new Response('The database did not answer in time. Nothing was changed; narrow the filters, or try again.', { status: 503 });
  return Response.json(rows, { headers });
}

/** One page of a bulk action; each row is answered for itself. Sent again under the same bulk id and offset it finds the answers of the first time. */
export async function action({ context, request }: ActionFunctionArgs) {
  const operator = requireOperator(context);
  const form = await readForm(request);
  const declared = actionByName(form.get('action'));
  if (!declared) throw new Response('There is no action of this name. Nothing was changed; reload the page and try again.', { status: 404 });
  const targets = form.getAll('target').map(fieldsOf);
  const bulkId = form.get('bulk') ?? '';
  const offset = Number(form.get('offset') ?? 0);
  if (!isUuid(bulkId) || targets.length === 0 || targets.length > MAX_ROWS || !Number.isSafeInteger(offset) || offset < 0) {
    throw new Response(`Expected a bulk id, an offset, and one to ${MAX_ROWS} rows. Nothing was changed; reload the page and try again.`, { status: 400 });
  }
  const result = await operateEach(context.world, declared, { actor: actorOf(operator), reason: form.get('reason') ?? '', bulkId, offset, targets, signal: context.closed });
  const barred = result.answers.every(({ code }) => code === 'not_allowed' || code === 'read_only');
  return Response.json(result, { status: barred ? 403 : 200, headers });
}

/** A target's fields, as the declaration of the action will read them: anything else is refused there. */
function fieldsOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
