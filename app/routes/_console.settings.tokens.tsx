import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { v7 as uuidv7 } from 'uuid';
import { unlessTooSlow } from '../../server/console/read.js';
import { parseTokenFilters, readTokens } from '../../server/console/settings-tokens.js';
import { createToken } from '../../server/operations/token-actions.js';
import { SlowPage } from '~/components/slow-page';
import { TokensPageView } from '~/components/tokens-page';
import { readForm } from '~/form.server';
import { makeSecret, operateForm, type FormAnswer } from '~/operating.server';
import { requireRole } from '~/require-role.server';

export const meta: MetaFunction = () => [{ title: 'API tokens · Leaseboard' }];

export async function loader({ context, request }: LoaderFunctionArgs) {
  requireRole(context, 'admin');
  const filters = parseTokenFilters(new URL(request.url).searchParams);
  return { page: await unlessTooSlow(readTokens(context.world.kysely, filters)), filters };
}

export async function action({ context, request }: ActionFunctionArgs): Promise<FormAnswer> {
  requireRole(context, 'admin');
  const form = await readForm(request);
  const secret = makeSecret('lb_');
  const days = form.get('days') ?? '';
  return operateForm(context, form, createToken, {
    id: uuidv7(), name: form.get('name') ?? '', sha256: secret.sha256, scopes: form.getAll('scope'), expiresInDays: days === '' ? null : Number(days),
  }, secret.text);
}

export default function Tokens() {
  const { page, filters } = useLoaderData<typeof loader>();
  return page ? <TokensPageView page={page} filters={filters} /> : <SlowPage />;
}
