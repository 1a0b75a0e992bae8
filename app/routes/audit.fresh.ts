import type { LoaderFunctionArgs } from '@remix-run/node';
import { readFreshAudit } from '../../server/console/audit.js';
import { parseAuditFilters } from '../../server/console/audit-filters.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { requireOperator } from '~/require-operator.server';

/** Which entries have come since the newest that is shown (`after`; 0 for none): asked every few seconds by the first page. */
export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const query = new URL(request.url).searchParams;
  const filters = parseAuditFilters(query);
  const fresh = await unlessTooSlow(readFreshAudit(context.world.kysely, filters, filters.after ?? '0'));
  return Response.json({ fresh: fresh ?? [] }, { headers: { 'Cache-Control': 'no-store' } });
}
