import type { LoaderFunctionArgs } from '@remix-run/node';
import { queueOfUrl } from '../../server/console/queue-of-url.js';
import { parseQueueFilters } from '../../server/console/queue-filters.js';
import { exportRows } from '../../server/console/queue-export.js';
import { download } from '~/download.server';
import { requireOperator } from '~/require-operator.server';

/** The filtered list as a file. */
export async function loader({ context, params, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const queue = queueOfUrl(params.queue);
  if (!queue) throw new Response('There is no queue of this name.', { status: 404 });
  const query = new URL(request.url).searchParams;
  return download(context, queue.slug, query, (format) => exportRows(context.world.kysely, queue, parseQueueFilters(query), format));
}
