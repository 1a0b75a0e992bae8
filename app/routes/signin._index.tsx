import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { redirect } from '@remix-run/node';
import { localPath } from '../../server/operations/return-to.js';
import { Door } from '~/components/door';
import { CopyButton } from '~/components/ui/copy-button';

export const meta: MetaFunction = () => [{ title: 'Sign in · Leaseboard' }];

export function loader({ context, request }: LoaderFunctionArgs) {
  if (context.operator) throw redirect(localPath(new URL(request.url).searchParams.get('returnTo')));
  return null;
}

const COMMAND = 'npx leaseboard signin-link';

export default function SignIn() {
  return (
    <Door title="Sign in">
      <p className="soft">You are signed out. A one-time link opens the console; it was printed when this installation first started, and works once.</p>
      <p className="soft">Make another on the server:</p>
      <div className="snippet"><pre>{COMMAND}</pre><CopyButton text={COMMAND} /></div>
    </Door>
  );
}
