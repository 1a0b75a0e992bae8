import type { LoaderFunctionArgs } from '@remix-run/node';
import { FailurePage } from '~/components/failure-page';
import { requireOperator } from '~/require-operator.server';

/** Every other address: answered inside the frame, so that the way back is in sight. */
export function loader({ context }: LoaderFunctionArgs) {
  requireOperator(context);
  throw new Response(null, { status: 404 });
}

export default function Nowhere() {
  return null;
}

export function ErrorBoundary() {
  return <FailurePage />;
}
