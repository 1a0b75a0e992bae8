import type { LoaderFunctionArgs } from '@remix-run/node';
import { exportAudit } from '../../server/console/audit-export.js';
import { parseAuditFilters } from '../../server/console/audit-filters.js';
import { download } from '~/download.server';
import { requireOperator } from '~/require-operator.server';

/** The filtered audit as a file. */
export function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const query = new URL(request.url).searchParams;
  return download(context, 'audit', query, (format) => exportAudit(context.world.kysely, parseAuditFilters(query), format));
}
