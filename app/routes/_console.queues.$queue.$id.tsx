import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { queueOfUrl } from '../../server/console/queue-of-url.js';
import { isUuid } from '../../server/console/queue-filters.js';
import { readRowPage } from '../../server/console/row-page.js';
import { FailurePage } from '~/components/failure-page';
import { RowDetail } from '~/components/row-detail';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction<typeof loader> = ({ data, params }) => [{ title: `${data?.queue.noun ?? 'Row'} …${(params.id ?? '').slice(-8)} · Leaseboard` }];

export async function loader({ context, params }: LoaderFunctionArgs) {
  requireOperator(context);
  const queue = queueOfUrl(params.queue);
  const id = (params.id ?? '').toLowerCase();
  if (!queue) throw new Response('There is no queue of this name. The rail lists those that exist.', { status: 404 });
  if (!isUuid(id)) throw new Response(`This address does not name a ${queue.noun}: ids are UUIDs. Open the row from its list, or check the link.`, { status: 404 });
  if (queue.slug === 'deployments') throw redirect(`/deployments/${id}`);
  const read = await unlessTooSlow(readRowPage(context.world.kysely, queue, id).then((page) => ({ page })));
  if (read && !read.page) throw new Response(`There is no ${queue.noun} with this id. It may have been removed by retention, or belong to another queue.`, { status: 404 });
  return { queue: { slug: queue.slug, noun: queue.noun }, id, page: read?.page ?? null };
}

export default function Row() {
  const { page, queue, id } = useLoaderData<typeof loader>();
  return page ? <RowDetail key={id} page={page} slug={queue.slug} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
