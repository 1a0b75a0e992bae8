import { Readable } from 'node:stream';
import type { LoaderFunctionArgs } from '@remix-run/node';
import { createReadableStreamFromReadable } from '@remix-run/node';
import { queueOfUrl } from '../../server/console/queue-of-url.js';
import { parseQueueFilters } from '../../server/console/queue-filters.js';
import { exportRows } from '../../server/console/queue-export.js';
import { requireOperator } from '~/require-operator.server';

const types = { csv: 'text/csv; charset=utf-8', json: 'application/json; charset=utf-8' } as const;

/** The filtered list as a file, streamed. The byte order mark tells spreadsheets that a CSV is UTF-8. */
export async function loader({ context, params, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const queue = queueOfUrl(params.queue);
  if (!queue) throw new Response('There is no queue of this name.', { status: 404 });
  const query = new URL(request.url).searchParams;
  const format = query.get('format') === 'json' ? 'json' : 'csv';
  const rows = exportRows(context.world.kysely, queue, parseQueueFilters(query), format);
  const body = Readable.from(format === 'csv' ? withMark(rows) : rows, { objectMode: false });
  context.closed.addEventListener('abort', () => body.destroy(), { once: true });
  return new Response(createReadableStreamFromReadable(body), {
    headers: {
      'Content-Type': types[format],
      'Content-Disposition': `attachment; filename="${queue.slug}.${format}"`,
      'Cache-Control': 'no-store',
    },
  });
}

async function* withMark(rows: AsyncGenerator<string>): AsyncGenerator<string> {
  yield '\uFEFF';
  yield* rows;
}
