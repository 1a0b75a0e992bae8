import type { OwnAccount } from '../../server/console/settings-account.js';
import type { SessionListFilters, SessionListPage } from '../../server/console/settings-sessions.js';
import { ActionButton } from './action-button';
import { Fact } from './action-evidence';
import { Age } from './age';
import { PasswordForm } from './password-form';
import { SignInTable } from './sign-in-table';
import { Section } from './ui/section';

interface Props {
  account: OwnAccount;
  page: SessionListPage;
  filters: SessionListFilters;
  id: string;
  sessionId: string;
  passwordMin: number;
}

const mayDo: Readonly<Record<string, string>> = {
  viewer: 'sees rows, timelines, progress and the audit; changes nothing',
  operator: 'also acts on rows, workers and queues, and may reveal text',
  admin: 'may do everything, people and tokens included',
};

/** Who you are here, how you sign in, and where you are signed in. */
export function AccountPage({ account, page, filters, id, sessionId, passwordMin }: Props) {
  const others = page.sessions.filter((session) => session.id !== sessionId && session.ended === null).length;
  return (
    <>
      <Section title="You">
        <div className="card settings-card">
          <dl className="action-facts">
            <Fact name="Name"><bdi className="wrap-anywhere">{account.name}</bdi></Fact>
            <Fact name="Role"><b>{account.role}</b> <span className="dim">{mayDo[account.role]}</span></Fact>
            <Fact name="Since"><Age at={account.createdAt} suffix=" ago" /></Fact>
            <Fact name="Signs in"><HowYouSignIn account={account} /></Fact>
          </dl>
        </div>
      </Section>
      {account.provider === null ? <Section title={account.passwordSetAt === null ? 'Set a password' : 'Change the password'}><PasswordForm account={account} min={passwordMin} /></Section> : null}
      <Section title="Where you are signed in" aside={<ActionButton order={{ action: 'sign_out_everywhere', fields: { id, keep: sessionId }, subject: account.name }} label="Sign out everywhere else" why={others === 0 && filters.before === null ? 'You are signed in nowhere else.' : null} />}>
        <SignInTable page={page} filters={filters} path="/settings/account" own={sessionId} />
      </Section>
    </>
  );
}

function HowYouSignIn({ account: { provider, passwordSetAt } }: { account: OwnAccount }) {
  if (provider !== null) return <>through <bdi className="mono wrap-anywhere">{provider}</bdi>, which also says your role</>;
  return passwordSetAt === null ? <>with one-time links only</> : <>with a password, set <Age at={passwordSetAt} suffix=" ago" /></>;
}
