import { Link } from '@remix-run/react';
import clsx from 'clsx';
import type { SessionListFilters, SessionListPage, SignedInSession } from '../../server/console/settings-sessions.js';
import { ActionButton } from './action-button';
import { Age } from './age';
import { OutsideName } from './names';
import { Pager } from './pager';
import { EmptyState } from './ui/empty-state';
import { deviceOf } from '~/format/device';

interface Props {
  page: SessionListPage;
  filters: SessionListFilters;
  path: string;
  /** The session of the person who looks. */
  own: string;
  /** Of everybody: names are shown. */
  names?: boolean;
}

const vias: Readonly<Record<SignedInSession['via'], string>> = { link: 'one-time link', password: 'password', oidc: 'provider' };

/** Signed-in browsers, newest first: a picture of when it was loaded. */
export function SignInTable({ page, filters, path, own, names = false }: Props) {
  const to = (change: Partial<SessionListFilters>) => pathTo(path, { ...filters, before: null, ...change });
  return (
    <>
      <div className="chips mb-3">
        <Link className={clsx('chip', filters.show === 'open' && 'on')} aria-current={filters.show === 'open' ? 'true' : undefined} preventScrollReset to={to({ show: 'open' })}>Open</Link>
        <Link className={clsx('chip', filters.show === 'all' && 'on')} aria-current={filters.show === 'all' ? 'true' : undefined} preventScrollReset to={to({ show: 'all' })}>Ended ones too</Link>
      </div>
      {page.sessions.length === 0 ? (
        <div className="card"><EmptyState title="No session here"><p className="soft">Each browser that signs in is listed here, with its device, when it was last seen and when it ends.{filters.q !== null || filters.before !== null ? ' None fits these filters now.' : ''}</p></EmptyState></div>
      ) : (
        <div className="card table-wrap">
          <table className="table stack" aria-label="Sessions of people">
            <thead><tr>{names ? <th scope="col">Person</th> : null}<th scope="col">Device</th><th scope="col">By</th><th scope="col" className="r">Signed in</th><th scope="col" className="r">Last seen</th><th scope="col" className="r">Ends</th><th scope="col"><span className="visually-hidden">Action</span></th></tr></thead>
            <tbody>{page.sessions.map((session) => <Row key={session.id} session={session} own={session.id === own} names={names} />)}</tbody>
          </table>
        </div>
      )}
      <Pager page={{ next: page.next, previous: null }} before={filters.before} to={to} />
    </>
  );
}

export function pathTo(path: string, { q, show, before }: SessionListFilters): string {
  const query = new URLSearchParams({ ...(q === null ? {} : { q }), ...(show === 'all' ? { show } : {}), ...(before === null ? {} : { before }) });
  return query.size === 0 ? path : `${path}?${query}`;
}

function Row({ session, own, names }: { session: SignedInSession; own: boolean; names: boolean }) {
  const { id, name, userAgent, via, createdAt, lastSeenAt, endsAt, ended } = session;
  const device = deviceOf(userAgent);
  return (
    <tr data-session={id} data-own={own || undefined}>
      {names ? <td className="first"><OutsideName name={name} width="24ch" /></td> : null}
      <td className={names ? undefined : 'first'} data-label={names ? 'on' : undefined}><span title={userAgent ?? undefined}>{device}</span>{own ? <b className="soft"> · this one</b> : null}</td>
      <td data-label="by">{vias[via]}</td>
      <td className="r" data-label="signed in"><Age at={createdAt} suffix=" ago" /></td>
      <td className="r" data-label="last seen"><Age at={lastSeenAt} suffix=" ago" /></td>
      <td className="r" data-label="ends">{ended === null ? <>in <Age at={endsAt} /></> : <span className="dim">{ended}</span>}</td>
      <td className="r">{ended === null ? <ActionButton order={{ action: 'revoke_session', fields: { id }, subject: `${name} on ${device}` }} label="End" why={own ? 'This is the session you are using. Sign out in the menu at the top instead.' : null} /> : null}</td>
    </tr>
  );
}
