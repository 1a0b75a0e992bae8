import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { readDeployments } from '../../server/console/deployments.js';
import { parseQueueFilters } from '../../server/console/queue-filters.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { DeploymentsView } from '~/components/deployments-view';
import { FailurePage } from '~/components/failure-page';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction = () => [{ title: 'Deployments · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const filters = parseQueueFilters(new URL(request.url).searchParams);
  return { filters, page: await unlessTooSlow(readDeployments(context.world.kysely, filters, context.world.config)) };
}

export default function Deployments() {
  const { filters, page } = useLoaderData<typeof loader>();
  return page ? <DeploymentsView page={page} filters={filters} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
