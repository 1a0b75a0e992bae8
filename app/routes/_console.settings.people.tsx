import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { v7 as uuidv7 } from 'uuid';
import { unlessTooSlow } from '../../server/console/read.js';
import { parsePeopleFilters, readOpenLinks, readPeople } from '../../server/console/settings-people.js';
import { createAccount } from '../../server/operations/account-actions.js';
import { createLink } from '../../server/operations/session-actions.js';
import { PeoplePageView } from '~/components/people-page';
import { SlowPage } from '~/components/slow-page';
import { readForm } from '~/form.server';
import { originOf } from '~/origin.server';
import { makeSecret, operateForm, type FormAnswer } from '~/operating.server';
import { requireRole } from '~/require-role.server';

export const meta: MetaFunction = () => [{ title: 'People · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  const { id } = requireRole(context, 'admin');
  const { kysely } = context.world;
  const filters = parsePeopleFilters(new URL(request.url).searchParams);
  return { view: await unlessTooSlow(Promise.all([readPeople(kysely, filters), readOpenLinks(kysely)])), filters, id };
}

/** Creating an account makes its first link: with it they sign in and choose a password. */
export async function action({ context, request }: ActionFunctionArgs): Promise<FormAnswer> {
  requireRole(context, 'admin');
  const form = await readForm(request);
  if (form.get('intent') === 'link') return makeLink(form.get('id') ?? '');
  const id = form.get('attempt') || uuidv7();   // the same press makes the same account
  const created = await operateForm(context, form, createAccount, { id, name: form.get('name') ?? '', role: form.get('role') ?? '' });
  if (created.outcome === 'refused') return created;
  form.delete('attempt');
  const link = await makeLink(id);
  return { ...link, text: `${created.text} ${link.text}` };

  function makeLink(operatorId: string): Promise<FormAnswer> {
    const secret = makeSecret();
    return operateForm(context, form, createLink, { id: operatorId, linkId: uuidv7(), sha256: secret.sha256 }, `${originOf(context.world.config, request)}/signin/${secret.text}`);
  }
}

export default function People() {
  const { view, filters, id } = useLoaderData<typeof loader>();
  return view ? <PeoplePageView page={view[0]} links={view[1]} filters={filters} own={id} /> : <SlowPage />;
}
