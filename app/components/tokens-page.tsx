import { Form, Link } from '@remix-run/react';
import clsx from 'clsx';
import { KeyRound, X } from 'lucide-react';
import { useState } from 'react';
import type { ApiTokenSummary, TokenFilters, TokensPage } from '../../server/console/settings-tokens.js';
import { ActionButton } from './action-button';
import { Age } from './age';
import { FormDialog } from './form-dialog';
import { OutsideName } from './names';
import { Button } from './ui/button';
import { Pager } from './pager';
import { EmptyState } from './ui/empty-state';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { TextField } from './ui/text-field';
import { useWhyNot } from '~/rights';

const PATH = '/settings/tokens';
const scopes = [
  ['api:read', 'read states and reports'], ['api:write', 'upload, analyse, publish, unlink'], ['api:erase', 'erase a user for good'],
  ['act:operator', 'an operator\'s actions, by script'], ['act:admin', 'an admin\'s actions, by script'],
] as const;
/** What a product backend usually needs; the others are given only when they are asked for. */
const usual: readonly string[] = ['api:read', 'api:write'];

/** What a token made before there were scopes may do. */
const wholeApi = (may: readonly string[]) => may.length === 3 && may.every((scope) => scope.startsWith('api:'));

/** The bearer tokens of product backends: what each may do, and when it last did. */
export function TokensPageView({ page, filters }: { page: TokensPage; filters: TokenFilters }) {
  return (
    <Section title="API tokens" aside={<AddToken />}>
      <div className="chips mb-3">
        <Link className={clsx('chip', filters.show === 'live' && 'on')} to={tokensPath({ ...filters, show: 'live', before: null })}>Not revoked</Link>
        <Link className={clsx('chip', filters.show === 'all' && 'on')} to={tokensPath({ ...filters, show: 'all', before: null })}>Revoked ones too</Link>
        <Form method="get" action={PATH} className="filter-form" role="search" aria-label="Find a token">
          {filters.show === 'all' ? <input type="hidden" name="show" value="all" /> : null}
          <input className="field w-full" name="q" data-filter-box maxLength={200} autoComplete="off" spellCheck={false} aria-label="Part of a token's name" placeholder="part of a name" />
        </Form>
        {filters.q !== null ? <Link className="chip on" to={tokensPath({ ...filters, q: null, before: null })}><span>name has <bdi>{filters.q}</bdi></span><X size={13} aria-label="remove" /></Link> : null}
      </div>
      {page.tokens.length === 0 ? (
        <div className="card"><EmptyState title="No token here"><p className="soft">A product backend calls the API with a token. Each is listed here with what it may do and when it was last used; its text is shown once, when it is made.</p></EmptyState></div>
      ) : (
        <div className="card table-wrap">
          <table className="table stack" aria-label="API tokens">
            <thead><tr><th scope="col">Name</th><th scope="col">May do</th><th scope="col" className="r">Last used</th><th scope="col" className="r">Made</th><th scope="col" className="r">Ends</th><th scope="col"><span className="visually-hidden">Action</span></th></tr></thead>
            <tbody>{page.tokens.map((token) => <Row key={token.id} token={token} />)}</tbody>
          </table>
        </div>
      )}
      <Pager page={{ next: page.next, previous: null }} before={filters.before} to={(change) => tokensPath({ ...filters, before: null, ...change })} />
      <p className="dim text-[12.5px] mt-3">Last use is noted at most once a minute. READ_ONLY does not concern the API: it is for the console.</p>
    </Section>
  );
}

function tokensPath({ q, show, before }: TokenFilters): string {
  const query = new URLSearchParams({ ...(q === null ? {} : { q }), ...(show === 'all' ? { show } : {}), ...(before === null ? {} : { before }) });
  return query.size === 0 ? PATH : `${PATH}?${query}`;
}

function Row({ token: { id, name, scopes: may, createdAt, lastUsedAt, expiresAt, revokedAt, expired } }: { token: ApiTokenSummary }) {
  return (
    <tr data-token={name}>
      <td className="first"><OutsideName name={name} width="30ch" /></td>
      <td data-label="may"><span className="mono">{wholeApi(may) ? 'all of the API' : may.join(' ')}</span></td>
      <td className="r" data-label="used">{lastUsedAt === null ? <span className="dim">never</span> : <Age at={lastUsedAt} suffix=" ago" />}</td>
      <td className="r" data-label="made"><Age at={createdAt} suffix=" ago" /></td>
      <td className="r" data-label="ends"><Ends revokedAt={revokedAt} expired={expired} expiresAt={expiresAt} /></td>
      <td className="r">{revokedAt === null ? <ActionButton order={{ action: 'revoke_token', fields: { id }, subject: name }} label="Revoke" /> : null}</td>
    </tr>
  );
}

function Ends({ revokedAt, expired, expiresAt }: Pick<ApiTokenSummary, 'revokedAt' | 'expired' | 'expiresAt'>) {
  if (revokedAt !== null) return <span className="state tone-off"><Shape name="dash" />revoked <Age at={revokedAt} suffix=" ago" /></span>;
  if (expiresAt === null) return <span className="dim">never</span>;
  return expired ? <span className="state tone-low"><Shape name="alert" />expired <Age at={expiresAt} suffix=" ago" /></span> : <>in <Age at={expiresAt} /></>;
}

function AddToken() {
  const [open, setOpen] = useState(false);
  const whyNot = useWhyNot('create_token');
  return (
    <>
      <Button onClick={() => setOpen(whyNot === null)} aria-disabled={whyNot !== null || undefined} title={whyNot ?? undefined}><KeyRound aria-hidden />Make a token</Button>
      <FormDialog open={open} onClose={() => setOpen(false)} title="Make an API token" label="Make the token" action={PATH} intent="create" about="For one product backend. Give it what it needs and no more; a name is live once." secretNote="Only its hash is kept. Put it into the backend's secrets now.">
        <TextField label="Name" name="name" required maxLength={200} autoComplete="off" />
        <fieldset className="form-field">
          <legend className="label">May</legend>
          {scopes.map(([scope, words]) => <label key={scope} className="check"><input type="checkbox" name="scope" value={scope} defaultChecked={usual.includes(scope)} /><span><span className="mono">{scope}</span> <span className="dim">{words}</span></span></label>)}
        </fieldset>
        <TextField label="Ends after (days)" name="days" type="number" min={1} max={3650} inputMode="numeric" hint="Blank: never." />
      </FormDialog>
    </>
  );
}
