import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { unlessTooSlow } from '../../server/console/read.js';
import { readOwnAccount } from '../../server/console/settings-account.js';
import { parseSessionListFilters, readSignedIn } from '../../server/console/settings-sessions.js';
import { changeOwnPassword } from '../../server/operations/account-actions.js';
import { PASSWORD_MIN } from '../../server/operations/password.js';
import { takeAttempt } from '../../server/operations/sign-in-limit.js';
import { tooManyAttempts } from '../../server/operations/sign-in.js';
import { AccountPage } from '~/components/account-page';
import { SlowPage } from '~/components/slow-page';
import { readForm } from '~/form.server';
import { operateForm, type FormAnswer } from '~/operating.server';
import { requireOperator } from '~/require-operator.server';

export const meta: MetaFunction = () => [{ title: 'Your account · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  const { id, sessionId } = requireOperator(context);
  const { kysely } = context.world;
  const filters = parseSessionListFilters(new URL(request.url).searchParams);
  const view = await unlessTooSlow(Promise.all([readOwnAccount(kysely, id, sessionId), readSignedIn(kysely, id, filters)]));
  return { view, filters, id, sessionId, passwordMin: PASSWORD_MIN };
}

/** A guess at the old password counts as one at the door: a stolen session must not find it out. */
export async function action({ context, request }: ActionFunctionArgs): Promise<FormAnswer> {
  const { id, name, sessionId } = requireOperator(context);
  const form = await readForm(request);
  if (form.get('password') !== form.get('again')) return { outcome: 'refused', code: 'different', text: 'The two new passwords are not the same. Nothing was changed.', secret: null };
  const wait = await takeAttempt(context.world.pool, 'account', name);
  if (wait > 0) return { outcome: 'refused', code: 'too_many', text: tooManyAttempts(wait), secret: null };
  return operateForm(context, form, changeOwnPassword, { id, sessionId, old: form.get('old') ?? '', new: form.get('password') ?? '' });
}

export default function Account() {
  const { view, ...rest } = useLoaderData<typeof loader>();
  return view ? <AccountPage account={view[0]} page={view[1]} {...rest} /> : <SlowPage />;
}
