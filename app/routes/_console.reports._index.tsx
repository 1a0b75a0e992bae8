import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { parseReportFilters, readReports } from '../../server/console/reports.js';
import { FailurePage } from '~/components/failure-page';
import { ReportList } from '~/components/report-list';
import { SlowPage } from '~/components/slow-page';
import { withTyped } from '~/format/filter-text';
import { withLeftOut } from '~/format/left-out';
import { reportsPath } from '~/format/report-words';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction = () => [{ title: 'Reports · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const query = new URL(request.url).searchParams;
  const typed = query.get('q');
  if (typed !== null) {
    const asked = withTyped(query, typed);
    throw redirect(withLeftOut(reportsPath(parseReportFilters(asked)), asked));
  }
  const filters = parseReportFilters(query);
  return { filters, page: await unlessTooSlow(readReports(context.world.kysely, filters)) };
}

export default function Reports() {
  const { page, filters } = useLoaderData<typeof loader>();
  return page ? <ReportList page={page} filters={filters} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
