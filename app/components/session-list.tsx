import { Form, Link } from '@remix-run/react';
import { X } from 'lucide-react';
import { lazy } from 'react';
import type { SessionFilters, SessionsPage, SessionSummary } from '../../server/console/sessions.js';
import { Age } from './age';
import { OutsideId } from './names';
import { LeftOut } from './left-out';
import { Pager } from './pager';
import { EmptyState } from './ui/empty-state';
import { Later } from './ui/later';
import { count } from '~/format/count';
import { sessionPath } from '~/format/session-words';
import { useCursor } from '~/cursor';

const ExportMenu = lazy(() => import('./export-menu'));

/** Sessions by their newest upload or analysis: a picture of when it was loaded. */
export function SessionList({ page, filters }: { page: SessionsPage; filters: SessionFilters }) {
  const rows = page.sessions.map((session, n) => ({ id: `session-${n}`, session }));
  const cursor = useCursor(rows, (id) => pathOf(rows.find((row) => row.id === id)!.session));
  return (
    <>
      <div className="queue-head">
        <h1>Sessions</h1><span className="dim">a user's sets of sources, newest activity first</span>
        <div className="queue-tools"><Later><ExportMenu path="/exports/sessions" query={queryOf({ ...filters, before: null })} /></Later></div>
      </div>
      <div className="filter-bar chips" role="search" aria-label="Find a session">
        <Form method="get" action="/sessions" className="filter-form">
          <input className="field w-full" name="q" data-filter-box maxLength={200} autoComplete="off" spellCheck={false} aria-label="Find by session id or user id, whole" placeholder="session id or user id" />
          <kbd className="filter-key" aria-hidden="true">f</kbd>
        </Form>
        {filters.q !== null ? <Link className="chip on" discover="none" to="/sessions"><span>session or user <bdi className="clip inline-block align-bottom max-w-[22ch]" title={filters.q}>{filters.q}</bdi></span><X size={13} aria-label="remove" /></Link> : null}
      </div>
      <LeftOut understood={queryOf(filters)} />
      {rows.length === 0 ? <Nothing searched={filters.q} more={page.next !== null} /> : (
        <div className="card table-wrap">
          <table className="table stack" aria-label="Sessions">
            <thead>
              <tr><th scope="col">Session</th><th scope="col">User</th><th scope="col" className="r">Documents</th><th scope="col" className="r">Open uploads</th><th scope="col" className="r">Analyses</th><th scope="col" className="r">Open analyses</th><th scope="col" className="r">Newest</th></tr>
            </thead>
            <tbody>{rows.map(({ id, session }) => <Row key={id} id={id} session={session} cursor={cursor === id} />)}</tbody>
          </table>
        </div>
      )}
      {page.cut ? <p className="soft">More sessions fit that only have linked documents. Look for one by its id.</p> : null}
      <Pager page={{ next: page.next, previous: null }} before={filters.before} to={(change) => sessionsPath({ q: filters.q, before: null, ...change })} />
    </>
  );
}

function sessionsPath(filters: SessionFilters): string {
  return `/sessions${queryOf(filters)}`;
}

/** Empty, or with its question mark. */
function queryOf({ q, before }: SessionFilters): string {
  const query = new URLSearchParams({ ...(q === null ? {} : { q }), ...(before === null ? {} : { before }) });
  return query.size === 0 ? '' : `?${query}`;
}

function pathOf({ sessionId, userId }: SessionSummary): string {
  return sessionPath(sessionId, userId);
}

function Row({ id, session, cursor }: { id: string; session: SessionSummary; cursor: boolean }) {
  return (
    <tr data-row-id={id} data-cursor={cursor}>
      <td className="first"><Link className="row-link" discover="none" to={pathOf(session)}><OutsideId id={session.sessionId} width="42ch" /></Link></td>
      <td data-label="user"><Link className="quiet-link" discover="none" to={`/sessions?q=${encodeURIComponent(session.userId)}`}><OutsideId id={session.userId} width="38ch" /></Link></td>
      <Figure label="documents" n={session.documents} /><Figure label="open uploads" n={session.openUploads} /><Figure label="analyses" n={session.analyses} /><Figure label="open" n={session.openAnalyses} />
      <td className="r" data-label="newest">{session.newestAt === null ? <span className="dim">–</span> : <Age at={session.newestAt} suffix=" ago" />}</td>
    </tr>
  );
}

function Figure({ label, n }: { label: string; n: number }) {
  return <td className="r" data-label={label}>{n === 0 ? <span className="zero">0</span> : count(n)}</td>;
}

function Nothing({ searched, more }: { searched: string | null; more: boolean }) {
  return (
    <div className="card">
      {more ? (
        <EmptyState title="No session was last active here">
          <p className="soft">The uploads and analyses of this stretch belong to sessions that were active again later: those are on earlier pages. Go on with “Older”.</p>
        </EmptyState>
      ) : searched === null ? (
        <EmptyState title="No session yet">
          <p className="soft">A session comes into being with its first upload: the product backend names it. It shows here which documents are linked to it, and what of them is persisted.</p>
        </EmptyState>
      ) : (
        <EmptyState title="No such session">
          <p className="soft">No session and no user has exactly this id. Ids are compared whole; to find a file or a job, look in its queue.</p>
          <Link className="btn" to="/sessions">Show the newest</Link>
        </EmptyState>
      )}
    </div>
  );
}

/** Two users' sessions of one id. */
export function SessionOwners({ sessionId, users }: { sessionId: string; users: string[] }) {
  return (
    <>
      <p className="crumb"><Link className="link" to="/sessions">Sessions</Link><span className="dim"> / Session</span></p>
      <h1><OutsideId id={sessionId} width="100%" /></h1>
      <p className="soft mt-2">More than one user has a session of this id. Each has its own documents; whose do you mean?</p>
      <div className="mt-4"><ul className="card linked">{users.map((user) => <li key={user}><span className="dim">User</span><Link className="row-link" to={sessionPath(sessionId, user)}><OutsideId id={user} width="40ch" /></Link></li>)}</ul></div>
    </>
  );
}
