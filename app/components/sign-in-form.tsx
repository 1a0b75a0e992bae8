import { CopyButton } from './ui/copy-button';
import { TextField } from './ui/text-field';

const COMMAND = 'npx leaseboard signin-link';

/** What stands inside the form of the sign-in page. What was typed stays in the fields after a refusal; it is never sent back. */
export function SignInForm({ fault, busy }: { fault: string | null; busy: boolean }) {
  return (
    <>
      {fault !== null ? <p className="fault" role="alert">{fault}</p> : null}
      <TextField label="Name" name="name" autoComplete="username" autoCapitalize="none" spellCheck={false} maxLength={200} required autoFocus />
      <TextField label="Password" name="password" type="password" autoComplete="current-password" maxLength={200} required />
      <button className="btn primary" type="submit" disabled={busy}>{busy ? 'Signing in …' : 'Sign in'}</button>
    </>
  );
}

/** Leaves for the provider. A link, not a form: the policy of this page lets forms go nowhere else. */
export function ProviderWay({ host, returnTo }: { host: string; returnTo: string }) {
  return (
    <>
      <p><a className="btn primary" href={returnTo === '/' ? '/signin/oidc' : `/signin/oidc?returnTo=${encodeURIComponent(returnTo)}`}>Sign in through <bdi>{host}</bdi></a></p>
      <p className="dim door-or">or with a name and a password of this console:</p>
    </>
  );
}

/** Why nobody was signed in, in the provider's words or ours, and where to begin again. */
export function ProviderRefused({ words }: { words: string }) {
  return (
    <>
      <p className="fault" role="alert"><bdi>{words}</bdi></p>
      <p><a className="btn" href="/signin">Back to signing in</a></p>
    </>
  );
}

/** The other ways in, for whoever has no password (yet). */
export function OtherWays() {
  return (
    <div className="door-other">
      <p className="soft">No password yet, or forgotten? A one-time link opens the console and lets you set one. One was printed when this installation first started; an admin makes others under Settings, or on the server:</p>
      <div className="snippet"><pre>{COMMAND}</pre><CopyButton text={COMMAND} /></div>
    </div>
  );
}
