import { Form, Link, useSubmit } from '@remix-run/react';
import { ChevronRight, UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { OpenLink, PeopleFilters, PeoplePage, Person } from '../../server/console/settings-people.js';
import { ActionButton } from './action-button';
import { Age } from './age';
import { FormDialog } from './form-dialog';
import { OutsideName } from './names';
import { PersonMenu } from './person-menu';
import { Button } from './ui/button';
import { EmptyState } from './ui/empty-state';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { TextField } from './ui/text-field';
import { useWhyNot } from '~/rights';

interface Props {
  page: PeoplePage;
  links: { links: OpenLink[]; more: boolean };
  filters: PeopleFilters;
  own: string;
}

/** Who may see the console, and the links that still open it. */
export function PeoplePageView({ page, links, filters, own }: Props) {
  const [linkFor, setLinkFor] = useState<Person | null>(null);
  return (
    <>
      <Section title="People" aside={<AddPerson />}>
        <PeopleFilterBar filters={filters} />
        {page.people.length === 0 ? <Nobody filters={filters} /> : (
          <div className="card table-wrap">
            <table className="table stack" aria-label="People">
              <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Signs in by</th><th scope="col" className="r">Open sessions</th><th scope="col" className="r">Last seen</th><th scope="col" className="r">Created</th><th scope="col"><span className="visually-hidden">Actions</span></th></tr></thead>
              <tbody>{page.people.map((person) => <Row key={person.id} person={person} own={person.id === own} lastAdmin={page.admins === 1} onLink={() => setLinkFor(person)} />)}</tbody>
            </table>
          </div>
        )}
        {page.next !== null || filters.after !== null ? (
          <nav className="pager" aria-label="Pages">
            {filters.after !== null ? <Link className="btn" to={peoplePath({ ...filters, after: null })}>First</Link> : null}
            {page.next !== null ? <Link className="btn" rel="next" to={peoplePath({ ...filters, after: page.next })}>Next<ChevronRight aria-hidden /></Link> : null}
          </nav>
        ) : null}
      </Section>
      <Section title="Open sign-in links" aside="each works once, within a day"><Links {...links} /></Section>
      <FormDialog open={linkFor !== null} onClose={() => setLinkFor(null)} title={<>Make a sign-in link for <bdi className="wrap-anywhere">{linkFor?.name}</bdi>?</>} label="Make the link" action="/settings/people" intent="link"
        about="Whoever opens it is signed in as this person, once, within a day, and may set a new password. Send it where only they read." hidden={{ id: linkFor?.id ?? '' }} secretNote="Only its hash is kept. Send it where only this person reads." />
    </>
  );
}

function AddPerson() {
  const [open, setOpen] = useState(false);
  const whyNot = useWhyNot('create_account');
  return (
    <>
      <Button onClick={() => setOpen(whyNot === null)} aria-disabled={whyNot !== null || undefined} title={whyNot ?? undefined}><UserPlus aria-hidden />Add a person</Button>
      <FormDialog open={open} onClose={() => setOpen(false)} title="Add a person" label="Add and make the link" action="/settings/people" intent="create"
        about="They get a one-time link; with it they sign in and choose a password." secretNote="This link signs them in, once, within a day. Send it where only they read.">
        <TextField label="Name" name="name" required maxLength={200} autoComplete="off" hint="As the audit will call them." />
        <div className="form-field"><label htmlFor="new-role">Role</label>
          <select id="new-role" className="field" name="role" defaultValue="viewer"><option value="viewer">viewer: sees, changes nothing</option><option value="operator">operator: acts on rows, workers, queues</option><option value="admin">admin: everything, people included</option></select>
        </div>
      </FormDialog>
    </>
  );
}

function PeopleFilterBar({ filters }: { filters: PeopleFilters }) {
  const submit = useSubmit();
  return (
    <Form method="get" action="/settings/people" className="chips audit-form mb-3" role="search" aria-label="Filter people" key={peoplePath({ ...filters, after: null })} onChange={(event) => event.target instanceof HTMLSelectElement && submit(event.currentTarget)}>
      <label className="audit-field"><span className="dim">Name</span><input className="field" name="q" defaultValue={filters.q ?? ''} maxLength={200} autoComplete="off" spellCheck={false} data-filter-box /></label>
      <Pick label="Role" name="role" value={filters.role} options={['viewer', 'operator', 'admin']} />
      <Pick label="State" name="state" value={filters.state} options={['enabled', 'disabled']} />
      <button type="submit" className="btn">Filter</button>
    </Form>
  );
}

function Pick({ label, name, value, options }: { label: string; name: string; value: string | null; options: string[] }) {
  return (
    <label className="audit-field"><span className="dim">{label}</span>
      <select className="field" name={name} defaultValue={value ?? ''}><option value="">any</option>{options.map((option) => <option key={option} value={option}>{option}</option>)}</select>
    </label>
  );
}

export function peoplePath({ q, role, state, after }: PeopleFilters): string {
  const query = new URLSearchParams(Object.entries({ q, role, state, after }).filter((entry): entry is [string, string] => entry[1] !== null));
  return query.size === 0 ? '/settings/people' : `/settings/people?${query}`;
}

const ways: Readonly<Record<Person['signsIn'], string>> = { password: 'password', provider: 'provider', link: 'link only' };

function Row({ person, own, lastAdmin, onLink }: { person: Person; own: boolean; lastAdmin: boolean; onLink: () => void }) {
  return (
    <tr data-person={person.name}>
      <td className="first"><OutsideName name={person.name} width="30ch" />{own ? <b className="soft"> · you</b> : null}</td>
      <td>{person.disabledAt === null ? person.role : <span className="state tone-off"><Shape name="dash" />disabled <span className="dim">(was {person.role})</span></span>}</td>
      <td data-label="by">{ways[person.signsIn]}</td>
      <td className="r" data-label="sessions">{person.openSessions === 0 ? <span className="zero">0</span> : <Link className="quiet-link" to={`/settings/sign-ins?q=${encodeURIComponent(person.name)}`}>{person.openSessions}</Link>}</td>
      <td className="r" data-label="seen">{person.lastSeenAt === null ? <span className="dim">never</span> : <Age at={person.lastSeenAt} suffix=" ago" />}</td>
      <td className="r" data-label="created"><Age at={person.createdAt} suffix=" ago" /></td>
      <td className="r"><PersonMenu person={person} lastAdmin={lastAdmin} onLink={onLink} /></td>
    </tr>
  );
}

function Nobody({ filters }: { filters: PeopleFilters }) {
  const filtered = peoplePath(filters) !== '/settings/people';
  return (
    <div className="card">
      <EmptyState title={filtered ? 'Nobody fits these filters' : 'Nobody is here'}>
        <p className="soft">Each person who may see the console is listed here, disabled ones too.</p>
        {filtered ? <Link className="btn" to="/settings/people">Clear the filters</Link> : null}
      </EmptyState>
    </div>
  );
}

function Links({ links, more }: { links: OpenLink[]; more: boolean }) {
  if (links.length === 0) return <div className="card"><EmptyState title="No open link"><p className="soft">A link that was made and not yet used is listed here, so that it can be revoked.</p></EmptyState></div>;
  return (
    <>
      <div className="card table-wrap">
        <table className="table stack" aria-label="Open sign-in links">
          <thead><tr><th scope="col">Signs in</th><th scope="col">Made by</th><th scope="col" className="r">Made</th><th scope="col" className="r">Ends</th><th scope="col"><span className="visually-hidden">Action</span></th></tr></thead>
          <tbody>
            {links.map(({ id, name, createdBy, createdAt, expiresAt }) => (
              <tr key={id} data-link={id}>
                <td className="first"><OutsideName name={name} width="30ch" /></td>
                <td data-label="by">{createdBy === null ? <span className="dim">the server</span> : <OutsideName name={createdBy} width="24ch" />}</td>
                <td className="r" data-label="made"><Age at={createdAt} suffix=" ago" /></td>
                <td className="r" data-label="ends">in <Age at={expiresAt} /></td>
                <td className="r"><ActionButton order={{ action: 'revoke_signin_link', fields: { id }, subject: name }} label="Revoke" /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more ? <p className="dim mt-2">More are open than are shown; each ends within a day.</p> : null}
    </>
  );
}
