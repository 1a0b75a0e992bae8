import { Readable } from 'node:stream';
import type { AppLoadContext } from '@remix-run/node';
import { createReadableStreamFromReadable } from '@remix-run/node';
import type { ExportFormat } from '../server/console/export.js';

const types = { csv: 'text/csv; charset=utf-8', json: 'application/json; charset=utf-8' } as const;

/** A list as a file, streamed, in the format that the address asks for. The byte order mark tells spreadsheets that a CSV is UTF-8. */
export function download(context: AppLoadContext, name: string, query: URLSearchParams, write: (format: ExportFormat) => AsyncGenerator<string>): Response {
  const format = query.get('format') === 'json' ? 'json' : 'csv';
  const parts = write(format);
  const body = Readable.from(format === 'csv' ? withMark(parts) : parts, { objectMode: false });
  context.closed.addEventListener('abort', () => body.destroy(), { once: true });
  return new Response(createReadableStreamFromReadable(body), {
    headers: { 'Content-Type': types[format], 'Content-Disposition': `attachment; filename="${name}.${format}"`, 'Cache-Control': 'no-store' },
  });
}

async function* withMark(parts: AsyncGenerator<string>): AsyncGenerator<string> {
  yield '\uFEFF';
  yield* parts;
}
