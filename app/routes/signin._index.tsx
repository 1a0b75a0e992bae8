import type { ActionFunctionArgs, HeadersFunction, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { data, redirect, redirectDocument } from '@remix-run/node';
import { Form, useActionData, useLoaderData, useNavigation } from '@remix-run/react';
import { localPath } from '../../server/operations/return-to.js';
import { sessionCookie, sessionFromCookies } from '../../server/operations/session-cookie.js';
import { signInWithPassword, tooManyAttempts, WRONG_PASSWORD } from '../../server/operations/sign-in.js';
import { Door } from '~/components/door';
import { OtherWays, ProviderWay, SignInForm } from '~/components/sign-in-form';
import { readForm } from '~/form.server';

export const meta: MetaFunction = () => [{ title: 'Sign in · Leaseboard' }];

/** Retry-After. */
export const headers: HeadersFunction = ({ actionHeaders }) => actionHeaders;

export function loader({ context, request }: LoaderFunctionArgs) {
  const wish = localPath(new URL(request.url).searchParams.get('returnTo'));
  if (context.operator) throw redirect(wish);
  const { oidcIssuer } = context.world.config;
  return { wish, provider: oidcIssuer === undefined ? null : new URL(oidcIssuer).host };
}

export async function action({ context, request }: ActionFunctionArgs) {
  const { pool, config, log } = context.world;
  const form = await readForm(request);
  const browser = { userAgent: request.headers.get('user-agent'), session: sessionFromCookies(request.headers.get('cookie') ?? undefined) };
  const answer = await signInWithPassword(pool, { name: form.get('name') ?? '', password: form.get('password') ?? '', address: context.address, browser });
  if (!answer.ok) {
    // Never the name: people type their password into that field.
    log.warn({ event: 'sign_in_refused', via: 'password', reason: answer.reason, operatorId: answer.reason === 'wrong' ? answer.operatorId : null }, 'A sign-in was refused');
    if (answer.reason === 'wrong') return data({ fault: WRONG_PASSWORD }, { status: 401 });
    return data({ fault: tooManyAttempts(answer.retryAfterSeconds) }, { status: 429, headers: { 'Retry-After': String(answer.retryAfterSeconds) } });
  }
  log.info({ event: 'signed_in', via: 'password', operatorId: answer.operator.id }, 'Signed in');
  return redirectDocument(localPath(new URL(request.url).searchParams.get('returnTo')), { headers: { 'Set-Cookie': sessionCookie(config, answer.session) } });
}

export default function SignIn() {
  const { wish, provider } = useLoaderData<typeof loader>();
  const fault = useActionData<typeof action>()?.fault ?? null;
  const busy = useNavigation().state !== 'idle';
  return (
    <Door title="Sign in">
      {provider === null ? null : <ProviderWay host={provider} returnTo={wish} />}
      <Form method="post" discover="none" action={wish === '/' ? '/signin?index' : `/signin?index&returnTo=${encodeURIComponent(wish)}`} className="door-form">
        <SignInForm fault={fault} busy={busy} />
      </Form>
      <OtherWays />
    </Door>
  );
}
