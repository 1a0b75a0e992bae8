import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { readDeploymentPage } from '../../server/console/deployment.js';
import { isUuid } from '../../server/console/queue-filters.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { DeploymentDetail } from '~/components/deployment-detail';
import { FailurePage } from '~/components/failure-page';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction<typeof loader> = ({ data }) => [{ title: `${data?.view?.page.row.columns.slug ?? 'App'} · Deployments · Leaseboard` }];

export async function loader({ context, params }: LoaderFunctionArgs) {
  requireOperator(context);
  const id = (params.id ?? '').toLowerCase();
  if (!isUuid(id)) throw new Response('This address does not name a deployment: ids are UUIDs. Open the app from the list of deployments, or check the link.', { status: 404 });
  const { kysely, config } = context.world;
  const read = await unlessTooSlow(readDeploymentPage(kysely, id, config).then((view) => ({ view })));
  if (read && !read.view) throw new Response('There is no deployment with this id. The list of deployments names those that exist.', { status: 404 });
  return { id, view: read?.view ?? null };
}

export default function Deployment() {
  const { id, view } = useLoaderData<typeof loader>();
  return view ? <DeploymentDetail key={id} view={view} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
