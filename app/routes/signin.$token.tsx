import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { data, redirect } from '@remix-run/node';
import { Form, useActionData, useLoaderData } from '@remix-run/react';
import { PASSWORD_MIN } from '../../server/operations/password.js';
import { localPath } from '../../server/operations/return-to.js';
import { sessionCookie, sessionFromCookies } from '../../server/operations/session-cookie.js';
import { linkRefusals, readSigninLink, redeemSigninLink } from '../../server/operations/sign-in.js';
import { Door } from '~/components/door';
import { NewPassword } from '~/components/new-password';
import { readForm } from '~/form.server';

export const meta: MetaFunction = () => [{ title: 'Sign in · Leaseboard' }, { name: 'referrer', content: 'same-origin' }];

/** Looking at a link does not use it: previews and scanners follow links too. The button does. */
export async function loader({ context, params }: LoaderFunctionArgs) {
  const link = await readSigninLink(context.world.pool, params.token ?? '');
  if (link.state !== 'ready') return data({ account: null, refusal: linkRefusals[link.state], passwordMin: PASSWORD_MIN }, { status: 410 });
  return { account: { name: link.operatorName, hasPassword: link.hasPassword, mayHavePassword: link.mayHavePassword }, refusal: null, passwordMin: PASSWORD_MIN };
}

export async function action({ context, params, request }: ActionFunctionArgs) {
  const { pool, config, log } = context.world;
  const form = await readForm(request);
  const password = form.get('password') || undefined;
  if ((form.get('again') || undefined) !== password) return data({ fault: 'The two passwords are not the same. Nothing was changed; the link still works.', refusal: null }, { status: 422 });
  const session = sessionFromCookies(request.headers.get('cookie') ?? undefined);
  const result = await redeemSigninLink(pool, params.token ?? '', request.headers.get('user-agent'), { session, password });
  if (!result.ok && result.reason === 'password') return data({ fault: result.fault, refusal: null }, { status: 422 });
  if (!result.ok) return data({ fault: null, refusal: linkRefusals[result.reason] }, { status: 410 });
  log.info({ event: 'signed_in', via: 'link', operatorId: result.operator.id, passwordSet: password !== undefined }, 'Signed in');
  const to = localPath(new URL(request.url).searchParams.get('returnTo'));
  return redirect(to, { headers: { 'Set-Cookie': sessionCookie(config, result.session) } });
}

export default function SignInWithLink() {
  const { account, refusal, passwordMin } = useLoaderData<typeof loader>();
  const answer = useActionData<typeof action>();
  const refused = answer?.refusal ?? refusal;
  if (refused !== null || !account) return <Door title="This link does not open the door"><p className="soft" role="alert">{refused}</p><p><a className="btn" href="/signin">Sign in another way</a></p></Door>;
  return (
    <Door title="Sign in to Leaseboard">
      <p className="soft">This link signs you in as <b><bdi>{account.name}</bdi></b>. It works once.</p>
      {/* A document's own request: the router would ask for the manifest of a path with a parameter, which is not for the signed-out. */}
      <Form method="post" reloadDocument className="door-form">
        {answer?.fault ? <p className="fault" role="alert">{answer.fault}</p> : null}
        {account.mayHavePassword ? (
          <details className="more" open={answer?.fault ? true : undefined}>
            <summary>{account.hasPassword ? 'Set a new password as well' : 'Choose a password as well, and the next sign-in needs no link'}</summary>
            <input type="text" name="username" autoComplete="username" value={account.name} readOnly hidden />
            <NewPassword min={passwordMin} />
          </details>
        ) : null}
        <button className="btn primary" type="submit" autoFocus>Sign in</button>
      </Form>
    </Door>
  );
}
