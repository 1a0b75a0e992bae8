import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { journeyOptions } from '../../server/console/journey-options.js';
import { isUuid } from '../../server/console/queue-filters.js';
import { unlessTooSlow } from '../../server/console/read.js';
import { parseCitationFilters } from '../../server/console/report-filters.js';
import { readReport } from '../../server/console/report.js';
import { FailurePage } from '~/components/failure-page';
import { ReportPage } from '~/components/report-page';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction<typeof loader> = ({ params }) => [{ title: `Report …${(params.id ?? '').slice(-8)} · Leaseboard` }];

export async function loader({ context, params, request }: LoaderFunctionArgs) {
  const operator = requireOperator(context);
  const id = (params.id ?? '').toLowerCase();
  if (!isUuid(id)) throw new Response('This address does not name a report: ids are UUIDs. Open the report from its list, or check the link.', { status: 404 });
  const query = new URL(request.url).searchParams;
  const filters = parseCitationFilters(query);
  const read = await unlessTooSlow(readReport(context.world.kysely, id, filters, operator, journeyOptions(context.world.config, query)).then((page) => ({ page })));
  if (read && !read.page) throw new Response('There is no report with this id. It may have been removed by retention, or the id is that of another row.', { status: 404 });
  return { id, filters, page: read?.page ?? null };
}

export default function Report() {
  const { id, page, filters } = useLoaderData<typeof loader>();
  return page ? <ReportPage key={id} page={page} filters={filters} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
