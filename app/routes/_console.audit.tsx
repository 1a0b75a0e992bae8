import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { readAudit } from '../../server/console/audit.js';
import { parseAuditFilters } from '../../server/console/audit-filters.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { queuesInOrder } from '../../server/console/queue-of-url.js';
import { actions } from '../../server/operations/actions.js';
import { AuditPage } from '~/components/audit-page';
import { FailurePage } from '~/components/failure-page';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction = () => [{ title: 'Audit · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const filters = parseAuditFilters(new URL(request.url).searchParams);
  const page = await unlessTooSlow(readAudit(context.world.kysely, filters));
  return { filters, page, actions: actions.map(({ name }) => name), queues: queuesInOrder().map(({ slug, title }) => ({ slug, title })) };
}

export default function Audit() {
  const { filters, page, actions: names, queues } = useLoaderData<typeof loader>();
  return page ? <AuditPage page={page} filters={filters} actions={names} queues={queues} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
