import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { parseSessionListFilters, readSignedIn } from '../../server/console/settings-sessions.js';
import { SignInsPage } from '~/components/sign-ins-page';
import { SlowPage } from '~/components/slow-page';
import { requireRole } from '~/require-role.server';

export const meta: MetaFunction = () => [{ title: 'Sign-ins · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  const { sessionId } = requireRole(context, 'admin');
  const filters = parseSessionListFilters(new URL(request.url).searchParams);
  return { page: await unlessTooSlow(readSignedIn(context.world.kysely, null, filters)), filters, sessionId };
}

export default function SignIns() {
  const { page, filters, sessionId } = useLoaderData<typeof loader>();
  return page ? <SignInsPage page={page} filters={filters} own={sessionId} /> : <SlowPage />;
}
