import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData, useRouteLoaderData } from '@remix-run/react';
import { isUuid } from '../../server/console/queue-filters.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { parseFateFilter, readRedeployPage } from '../../server/console/redeploy.js';
import { FailurePage } from '~/components/failure-page';
import { RedeployPage } from '~/components/redeploy-page';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';
import type { loader as consoleLoader } from './_console';

export const meta: MetaFunction<typeof loader> = ({ data }) => [{ title: `${data?.view ? `${data.view.redeploy.fromVersion} → ${data.view.redeploy.toVersion}` : 'Redeploy'} · Leaseboard` }];

export async function loader({ context, params, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const id = (params.id ?? '').toLowerCase();
  if (!isUuid(id)) throw new Response('This address does not name a redeploy: ids are UUIDs. Open it from the list of redeploys, or check the link.', { status: 404 });
  const filter = parseFateFilter(new URL(request.url).searchParams);
  const read = await unlessTooSlow(readRedeployPage(context.world.kysely, id, filter).then((view) => ({ view })));
  if (read && !read.view) throw new Response('There is no redeploy with this id. The list of redeploys names those that exist.', { status: 404 });
  return { filter, view: read?.view ?? null };
}

export default function Redeploy() {
  const { view, filter } = useLoaderData<typeof loader>();
  const { now } = useRouteLoaderData<typeof consoleLoader>('routes/_console')!;
  return view ? <RedeployPage key={view.redeploy.id} view={view} filter={filter} now={now!} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
