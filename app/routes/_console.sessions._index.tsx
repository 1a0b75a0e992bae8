import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { parseSessionFilters, readSessions } from '../../server/console/sessions.js';
import { FailurePage } from '~/components/failure-page';
import { SessionList } from '~/components/session-list';
import { SlowPage } from '~/components/slow-page';
import { sessionPath } from '~/format/session-words';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction = () => [{ title: 'Sessions · Leaseboard' }];

/** A search that names one session opens it. */
export async function loader({ context, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const filters = parseSessionFilters(new URL(request.url).searchParams);
  const page = await unlessTooSlow(readSessions(context.world.kysely, filters));
  const [only, another] = page?.sessions ?? [];
  if (only && !another && only.sessionId === filters.q) throw redirect(sessionPath(only.sessionId, only.userId));
  return { filters, page };
}

export default function Sessions() {
  const { page, filters } = useLoaderData<typeof loader>();
  return page ? <SessionList page={page} filters={filters} /> : <SlowPage />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
