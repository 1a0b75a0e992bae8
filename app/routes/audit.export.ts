import { Readable } from 'node:stream';
import type { LoaderFunctionArgs } from '@remix-run/node';
import { createReadableStreamFromReadable } from '@remix-run/node';
import { exportAudit } from '../../server/console/audit-export.js';
import { parseAuditFilters } from '../../server/console/audit-filters.js';
import { requireOperator } from '~/require-operator.server';

const types = { csv: 'text/csv; charset=utf-8', json: 'application/json; charset=utf-8' } as const;

/** The filtered audit as a file, streamed. The byte order mark tells spreadsheets that a CSV is UTF-8. */
export function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const query = new URL(request.url).searchParams;
  const format = query.get('format') === 'json' ? 'json' : 'csv';
  const entries = exportAudit(context.world.kysely, parseAuditFilters(query), format);
  const body = Readable.from(format === 'csv' ? withMark(entries) : entries, { objectMode: false });
  context.closed.addEventListener('abort', () => body.destroy(), { once: true });
  return new Response(createReadableStreamFromReadable(body), {
    headers: { 'Content-Type': types[format], 'Content-Disposition': `attachment; filename="audit.${format}"`, 'Cache-Control': 'no-store' },
  });
}

async function* withMark(lines: AsyncGenerator<string>): AsyncGenerator<string> {
  yield '\uFEFF';
  yield* lines;
}
