import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { data, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { beginProviderSignIn, ProviderRefusal } from '../../server/operations/provider-sign-in.js';
import { localPath } from '../../server/operations/return-to.js';
import { transactionCookie } from '../../server/operations/session-cookie.js';
import { Door } from '~/components/door';
import { ProviderRefused } from '~/components/sign-in-form';

export const meta: MetaFunction = () => [{ title: 'Sign in · Leaseboard' }];

/** Leaves for the provider; what must be remembered goes into a sealed cookie. */
export async function loader({ context, request }: LoaderFunctionArgs) {
  const { config, log } = context.world;
  if (config.oidcIssuer === undefined) return redirect('/signin');
  try {
    const { location, transaction } = await beginProviderSignIn(config, localPath(new URL(request.url).searchParams.get('returnTo')));
    return redirect(location, { headers: { 'Set-Cookie': transactionCookie(config, transaction) } });
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    log.warn({ event: 'sign_in_refused', via: 'oidc', reason: error.code, detail: error.detail }, 'The provider could not be asked');
    return data({ words: error.words }, { status: 502 });
  }
}

export default function LeaveForProvider() {
  const { words } = useLoaderData<typeof loader>();
  return <Door title="You are not signed in"><ProviderRefused words={words} /></Door>;
}
