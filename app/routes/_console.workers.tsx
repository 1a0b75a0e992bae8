import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { parseWorkersFilter, readWorkers } from '../../server/console/workers.js';
import { FailurePage } from '~/components/failure-page';
import { SlowPage } from '~/components/slow-page';
import { WorkersPage } from '~/components/workers-page';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction = () => [{ title: 'Workers · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const filter = parseWorkersFilter(new URL(request.url).searchParams);
  return { filter, view: await unlessTooSlow(readWorkers(context.world.kysely, filter)) };
}

export default function Workers() {
  const { view, filter } = useLoaderData<typeof loader>();
  return view ? <WorkersPage key={`${filter.show}${filter.before ?? ''}`} view={view} filter={filter} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
