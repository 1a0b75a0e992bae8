import type { HeadersFunction, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { data, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { signInFromProvider } from '../../server/operations/provider-account.js';
import { finishProviderSignIn, ProviderRefusal } from '../../server/operations/provider-sign-in.js';
import { clearedTransactionCookie, sessionCookie, sessionFromCookies, transactionFromCookies } from '../../server/operations/session-cookie.js';
import { returnAttempt, takeAttempt } from '../../server/operations/sign-in-limit.js';
import { tooManyAttempts } from '../../server/operations/sign-in.js';
import { Door } from '~/components/door';
import { ProviderRefused } from '~/components/sign-in-form';

export const meta: MetaFunction = () => [{ title: 'Sign in · Leaseboard' }];

/** Retry-After. */
export const headers: HeadersFunction = ({ loaderHeaders }) => loaderHeaders;

/** Back from the provider. A refusal is a page with its reason; the transaction is over either way. */
export async function loader({ context, request }: LoaderFunctionArgs) {
  const { config, pool, log } = context.world;
  if (config.oidcIssuer === undefined) return redirect('/signin');
  const headers = new Headers({ 'Set-Cookie': clearedTransactionCookie(config) });
  const refuse = (words: string, status: number, reason: string, more: object = {}) => {
    log.warn({ event: 'sign_in_refused', via: 'oidc', reason, ...more }, 'A sign-in was refused');
    return data({ words }, { status, headers });
  };
  const wait = await takeAttempt(pool, 'address', context.address);
  if (wait > 0) {
    headers.set('Retry-After', String(wait));
    return refuse(tooManyAttempts(wait), 429, 'too_many');
  }
  const cookies = request.headers.get('cookie') ?? undefined;
  try {
    const { identity, returnTo } = await finishProviderSignIn(config, new URL(request.url).search.slice(1), transactionFromCookies(cookies));
    const answer = await signInFromProvider(pool, identity, { userAgent: request.headers.get('user-agent'), session: sessionFromCookies(cookies) });
    if (!answer.ok) return refuse(answer.words, 403, 'disabled', { operatorId: answer.operatorId });
    await returnAttempt(pool, context.address);
    log.info({ event: 'signed_in', via: 'oidc', operatorId: answer.operatorId }, 'Signed in');
    headers.append('Set-Cookie', sessionCookie(config, answer.session));
    return redirect(returnTo, { headers });
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    return refuse(error.words, error.code === 'provider_unreachable' ? 502 : 403, error.code, { detail: error.detail });
  }
}

export default function BackFromProvider() {
  const { words } = useLoaderData<typeof loader>();
  return <Door title="You are not signed in"><ProviderRefused words={words} /></Door>;
}
