import { Form, Link } from '@remix-run/react';
import { X } from 'lucide-react';
import type { SessionListFilters, SessionListPage } from '../../server/console/settings-sessions.js';
import { SignInTable, pathTo } from './sign-in-table';
import { Section } from './ui/section';

const PATH = '/settings/sign-ins';

/** Everybody's signed-in browsers. */
export function SignInsPage({ page, filters, own }: { page: SessionListPage; filters: SessionListFilters; own: string }) {
  return (
    <Section title="Who is signed in" aside="newest first; an ended session's next request is refused">
      <div className="chips mb-3">
        <Form method="get" action={PATH} className="filter-form" role="search" aria-label="Find a person's sessions">
          {filters.show === 'all' ? <input type="hidden" name="show" value="all" /> : null}
          <input className="field w-full" name="q" data-filter-box maxLength={200} autoComplete="off" spellCheck={false} aria-label="Part of a person's name" placeholder="part of a name" />
        </Form>
        {filters.q !== null ? <Link className="chip on" to={pathTo(PATH, { ...filters, q: null, before: null })}><span>name has <bdi>{filters.q}</bdi></span><X size={13} aria-label="remove" /></Link> : null}
      </div>
      <SignInTable page={page} filters={filters} path={PATH} own={own} names />
    </Section>
  );
}
