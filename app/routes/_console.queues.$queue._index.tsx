import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { redirect } from '@remix-run/node';
import { useLoaderData, useRouteLoaderData } from '@remix-run/react';
import { queueOfUrl } from '../../server/console/queue-of-url.js';
import { parseQueueFilters } from '../../server/console/queue-filters.js';
import { readQueuePage } from '../../server/console/queue-page.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { FailurePage } from '~/components/failure-page';
import { QueueView } from '~/components/queue-view';
import { SlowPage } from '~/components/slow-page';
import { withTyped } from '~/format/filter-text';
import { queuePath } from '~/format/filters';
import { withLeftOut } from '~/format/left-out';
import { requireOperator } from '~/require-operator.server';
import type { loader as consoleLoader } from './_console';

export const meta: MetaFunction<typeof loader> = ({ data }) => [{ title: `${data?.page?.queue.title ?? 'Queue'} · Leaseboard` }];

export async function loader({ context, params, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const queue = queueOfUrl(params.queue);
  if (!queue) throw new Response('There is no queue of this name. The rail lists those that exist.', { status: 404 });
  const query = new URL(request.url).searchParams;
  const typed = query.get('q');
  if (typed !== null) {
    const asked = withTyped(query, typed);
    throw redirect(withLeftOut(queuePath(queue.slug, parseQueueFilters(asked)), asked));
  }
  const filters = parseQueueFilters(query);
  return { filters, page: await unlessTooSlow(readQueuePage(context.world.kysely, queue, filters)) };
}

export default function Queue() {
  const { filters, page } = useLoaderData<typeof loader>();
  const origin = useRouteLoaderData<typeof consoleLoader>('routes/_console')?.origin ?? '';
  return page ? <QueueView key={page.queue.slug} page={page} filters={filters} origin={origin} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
