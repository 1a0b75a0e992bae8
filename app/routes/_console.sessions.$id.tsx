import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { readSession } from '../../server/console/session.js';
import { parseSessionAddress } from '../../server/console/sessions.js';
import { FailurePage } from '~/components/failure-page';
import { SessionOwners } from '~/components/session-list';
import { SessionPage } from '~/components/session-page';
import { SlowPage } from '~/components/slow-page';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction<typeof loader> = () => [{ title: 'Session · Leaseboard' }];

export async function loader({ context, params, request }: LoaderFunctionArgs) {
  requireOperator(context);
  const { sessionId, userId } = parseSessionAddress(params.id ?? '', new URL(request.url).searchParams);
  const answer = await unlessTooSlow(readSession(context.world.kysely, sessionId, userId, context.world.config.sourceCacheTtlSeconds));
  if (answer?.users.length === 0) throw new Response('No upload, analysis or linked document names this session. Ids are compared whole: check the link, or search for the user.', { status: 404 });
  return { sessionId, answer };
}

export default function Session() {
  const { sessionId, answer } = useLoaderData<typeof loader>();
  if (!answer) return <SlowPage />;
  return answer.page ? <SessionPage key={`${sessionId} ${answer.page.userId}`} page={answer.page} /> : <SessionOwners sessionId={sessionId} users={answer.users} />;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
