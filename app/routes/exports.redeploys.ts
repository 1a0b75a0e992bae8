import type { LoaderFunctionArgs } from '@remix-run/node';
import { parseRedeployFilters } from '../../server/console/redeploys.js';
import { exportRedeploys } from '../../server/console/redeploys-export.js';
import { download } from '~/download.server';
import { requireOperator } from '~/require-operator.server';

/** The filtered redeploys as a file. */
export function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const query = new URL(request.url).searchParams;
  return download(context, 'redeploys', query, (format) => exportRedeploys(context.world.kysely, parseRedeployFilters(query), format));
}
