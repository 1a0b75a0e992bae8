import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { readOnly, unlessTooSlow } from '../../server/console/read.js';
import { readWebhookState } from '../../server/console/webhook-state.js';
import { SlowPage } from '~/components/slow-page';
import { WebhookCard } from '~/components/webhook-card';
import { requireRole } from '~/require-role.server';

export const meta: MetaFunction = () => [{ title: 'Webhook · Leaseboard' }];

export async function loader({ context }: LoaderFunctionArgs) {
  requireRole(context, 'operator');
  const { kysely, config: { webhookUrl, webhookGraceSeconds: graceSeconds } } = context.world;
  return { state: webhookUrl ? await unlessTooSlow(readOnly(kysely, (reader) => readWebhookState(reader, webhookUrl))) : undefined, graceSeconds };
}

export default function Webhook() {
  const { state, graceSeconds } = useLoaderData<typeof loader>();
  return state === null ? <SlowPage /> : <WebhookCard state={state} graceSeconds={graceSeconds} />;
}
