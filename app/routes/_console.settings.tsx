import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { Outlet } from '@remix-run/react';
import { FailurePage } from '~/components/failure-page';
import { SettingsFrame } from '~/components/settings-frame';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction = () => [{ title: 'Settings · Leaseboard' }];

export function loader({ context }: LoaderFunctionArgs) {
  requireOperator(context);
  return null;
}

export default function Settings() {
  return <SettingsFrame><Outlet /></SettingsFrame>;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
