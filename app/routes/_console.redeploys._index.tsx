import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData, useRouteLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { parseRedeployFilters, readRedeploys } from '../../server/console/redeploys.js';
import { FailurePage } from '~/components/failure-page';
import { RedeployList } from '~/components/redeploy-list';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';
import type { loader as consoleLoader } from './_console';

export const meta: MetaFunction = () => [{ title: 'Redeploys · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const filters = parseRedeployFilters(new URL(request.url).searchParams);
  return { filters, page: await unlessTooSlow(readRedeploys(context.world.kysely, filters)) };
}

export default function Redeploys() {
  const { page, filters } = useLoaderData<typeof loader>();
  const { now } = useRouteLoaderData<typeof consoleLoader>('routes/_console')!;
  return page ? <RedeployList page={page} filters={filters} now={now!} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
