import type { LoaderFunctionArgs } from '@remix-run/node';
import { unlessTooSlow } from '../../server/console/read.js';
import type { ShouldRevalidateFunction } from '@remix-run/react';
import { Outlet, useLoaderData, useRouteLoaderData } from '@remix-run/react';
import { readNow } from '../../server/console/now.js';
import { actions } from '../../server/operations/actions.js';
import { ActionDesk } from '~/components/action-desk';
import { FailurePage } from '~/components/failure-page';
import { Shell } from '~/components/shell';
import { SlowPage } from '~/components/slow-page';
import { originOf } from '~/origin.server';
import type { Rights } from '~/format/possible';
import { LiveProvider } from '~/live/use-live';
import { requireOperator } from '~/require-operator.server';
import type { loader as rootLoader } from '~/root';

export async function loader({ context, request }: LoaderFunctionArgs) {
  const { name, role } = requireOperator(context);
  const { config, kysely } = context.world;
  const now = await unlessTooSlow(readNow(kysely, config));
  const origin = originOf(config, request);
  const rights: Rights = {
    role, readOnly: config.readOnly, publishDeadAfterMs: config.publishDeadAfterSeconds * 1000, permissions: Object.fromEntries(actions.map((action) => [action.name, action.permission])),
  };
  return { now, origin, operator: { name, role }, rights, place: new URL(origin).host, version: config.appVersion };
}

/** The live stream keeps these figures fresh; going from page to page does not read them again. */
export const shouldRevalidate: ShouldRevalidateFunction = ({ formMethod }) => formMethod !== undefined && formMethod !== 'GET';

export default function Console() {
  const { now, operator, place, version } = useLoaderData<typeof loader>();
  const theme = useRouteLoaderData<typeof rootLoader>('root')?.theme ?? 'system';
  if (!now) return <main className="page" id="content"><SlowPage /></main>;
  return (
    <LiveProvider asOf={now.asOf}>
      <ActionDesk><Shell now={now} operator={operator} place={place} version={version} theme={theme}><Outlet /></Shell></ActionDesk>
    </LiveProvider>
  );
}

export function ErrorBoundary() {
  return <FailurePage />;
}
