import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { data, redirect } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { localPath } from '../../server/operations/return-to.js';
import { sessionCookie } from '../../server/operations/session-cookie.js';
import { linkRefusals, readSigninLink, redeemSigninLink } from '../../server/operations/sign-in.js';
import { Door } from '~/components/door';

export const meta: MetaFunction = () => [{ title: 'Sign in · Leaseboard' }, { name: 'referrer', content: 'same-origin' }];

/** Looking at a link does not use it: previews and scanners follow links too. The button does. */
export async function loader({ context, params }: LoaderFunctionArgs) {
  const link = await readSigninLink(context.world.pool, params.token ?? '');
  if (link.state === 'ready') return { name: link.operatorName, refusal: null };
  return data({ name: null, refusal: linkRefusals[link.state] }, { status: 410 });
}

export async function action({ context, params, request }: ActionFunctionArgs) {
  const result = await redeemSigninLink(context.world.pool, params.token ?? '', request.headers.get('user-agent'));
  if (!result.ok) return data({ refusal: linkRefusals[result.reason] }, { status: 410 });
  const to = localPath(new URL(request.url).searchParams.get('returnTo'));
  return redirect(to, { headers: { 'Set-Cookie': sessionCookie(context.world.config, result.session) } });
}

export default function SignInWithLink() {
  const { name, refusal } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>()?.refusal ?? refusal;
  if (refused !== null) return <Door title="This link does not open the door"><p className="soft" role="alert">{refused}</p></Door>;
  return (
    <Door title="Sign in to Leaseboard">
      <p className="soft">This link signs you in as <b><bdi>{name}</bdi></b>. It works once.</p>
      <form method="post"><button className="btn primary" type="submit" autoFocus>Sign in</button></form>
    </Door>
  );
}
