import { useFetcher } from '@remix-run/react';
import { useEffect, useRef, useState } from 'react';
import type { OwnAccount } from '../../server/console/settings-account.js';
import { AnswerNote } from './action-answer';
import { NewPassword } from './new-password';
import { Button } from './ui/button';
import { TextField } from './ui/text-field';
import { newAttempt } from '~/acting';
import type { FormAnswer } from '~/operating.server';
import { useRights } from '~/rights';

/** Old for new; the first one without an old one, while the sign-in is fresh. */
export function PasswordForm({ account, min }: { account: OwnAccount; min: number }) {
  const fetcher = useFetcher<FormAnswer>();
  const form = useRef<HTMLFormElement>(null);
  const [attempt, setAttempt] = useState('');
  const { readOnly } = useRights();
  const answer = fetcher.state === 'idle' ? fetcher.data : undefined;
  useEffect(() => {
    setAttempt(newAttempt());
    if (answer?.outcome === 'applied') form.current?.reset();
  }, [answer]);
  const first = account.passwordSetAt === null;
  const why = readOnly ? 'This console is read-only (READ_ONLY): set it on the command line (npx leaseboard users password).' : first && !account.fresh ? 'A first password can be set soon after signing in only. Sign out, and in again with a one-time link.' : null;
  return (
    <fetcher.Form ref={form} method="post" action="/settings/account" className="card settings-card settings-form">
      <input type="text" name="username" autoComplete="username" value={account.name} readOnly hidden />
      <input type="hidden" name="attempt" value={attempt} />
      <input type="hidden" name="reason" value="own password" />
      {first ? null : <TextField label="Old password" name="old" type="password" autoComplete="current-password" maxLength={200} required />}
      <NewPassword min={min} required />
      <p className="dim text-[13px]">Your other sessions end, and open links to your account are revoked.</p>
      {answer ? <AnswerNote answer={{ ...answer, now: null }} /> : null}
      <div className="action-buttons"><Button type="submit" look="primary" disabled={why !== null || fetcher.state !== 'idle'} aria-describedby="password-why">{first ? 'Set the password' : 'Change the password'}</Button></div>
      {why === null ? null : <p id="password-why" className="action-why">{why}</p>}
    </fetcher.Form>
  );
}
