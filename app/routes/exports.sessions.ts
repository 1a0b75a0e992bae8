import type { LoaderFunctionArgs } from '@remix-run/node';
import { parseSessionFilters } from '../../server/console/sessions.js';
import { exportSessions } from '../../server/console/sessions-export.js';
import { download } from '~/download.server';
import { requireOperator } from '~/require-operator.server';

/** The filtered sessions as a file. Not below /sessions, where a session may be called anything. */
export function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const query = new URL(request.url).searchParams;
  return download(context, 'sessions', query, (format) => exportSessions(context.world.kysely, parseSessionFilters(query), format));
}
