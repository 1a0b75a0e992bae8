import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { readSwitches } from '../../server/console/settings-state.js';
import { QueueSwitches } from '~/components/queue-switches';
import { SlowPage } from '~/components/slow-page';
import { requireRole } from '~/require-role.server';

export const meta: MetaFunction = () => [{ title: 'Queue pauses · Leaseboard' }];

export async function loader({ context }: LoaderFunctionArgs) {
  requireRole(context, 'operator');
  return { switches: await unlessTooSlow(readSwitches(context.world.kysely)) };
}

export default function Queues() {
  const { switches } = useLoaderData<typeof loader>();
  return switches ? <QueueSwitches switches={switches} /> : <SlowPage />;
}
