import type { LoaderFunctionArgs } from '@remix-run/node';
import { redirect } from '@remix-run/node';
import { requireOperator } from '~/require-operator.server';

export function loader({ context }: LoaderFunctionArgs) {
  requireOperator(context);
  return redirect('/settings/account');
}
