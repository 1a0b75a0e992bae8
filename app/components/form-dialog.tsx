import { useFetcher } from '@remix-run/react';
import type { ReactNode } from 'react';
import { useEffect, useId, useRef, useState } from 'react';
import { AnswerNote } from './action-answer';
import { Button } from './ui/button';
import { CopyButton } from './ui/copy-button';
import { Dialog } from './ui/dialog';
import { newAttempt } from '~/acting';
import type { FormAnswer } from '~/operating.server';

interface Props {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  /** What happens, and to whom. */
  about: string;
  label: string;
  action: string;
  intent: string;
  hidden?: Record<string, string>;
  /** What the secret in the answer is for, if there is one. */
  secretNote?: string;
  children?: ReactNode;
}

/**
 * A form that makes something, with its reason. What it makes is shown here once, and gone when this closes. A second press is the same attempt
 * until the first one's answer is known.
 */
export function FormDialog(props: Props) {
  const { open, onClose, title } = props;
  return <Dialog open={open} onOpenChange={(next) => next || onClose()} title={title} className="action-card">{open ? <DialogForm {...props} /> : null}</Dialog>;
}

function DialogForm({ onClose, about, label, action, intent, hidden = {}, secretNote, children }: Props) {
  const fetcher = useFetcher<FormAnswer>();
  const [attempt, setAttempt] = useState(newAttempt);
  const answer = fetcher.state === 'idle' ? fetcher.data : undefined;
  const id = useId();
  const done = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (answer?.outcome === 'refused') setAttempt(newAttempt());
    if (answer?.outcome === 'applied') done.current?.querySelector<HTMLElement>('.btn')?.focus();
  }, [answer]);
  if (answer?.outcome === 'applied') {
    return (
      <div ref={done}>
        <AnswerNote answer={{ ...answer, now: null }} />
        {answer.secret === null ? null : <Secret text={answer.secret} note={secretNote ?? ''} />}
        <div className="action-buttons mt-4"><Button look="primary" onClick={onClose}>Close</Button></div>
      </div>
    );
  }
  const busy = fetcher.state !== 'idle';
  return (
    <fetcher.Form method="post" action={action} className="action-form">
      <p className="soft text-[13px]">{about}</p>
      <input type="hidden" name="intent" value={intent} />
      <input type="hidden" name="attempt" value={attempt} />
      {Object.entries(hidden).map(([name, value]) => <input key={name} type="hidden" name={name} value={value} />)}
      {children}
      <div className="form-field">
        <label htmlFor={id}>Reason <span className="dim">(kept in the audit)</span></label>
        <input id={id} className="field" name="reason" required maxLength={500} autoComplete="off" />
      </div>
      {answer ? <AnswerNote answer={{ ...answer, now: null }} /> : null}
      <div className="action-buttons">
        <Button type="submit" look="primary" disabled={busy}>{busy ? 'Acting…' : label}</Button>
        <Button onClick={onClose}>Leave it</Button>
      </div>
    </fetcher.Form>
  );
}

function Secret({ text, note }: { text: string; note: string }) {
  return (
    <div className="secret">
      <p><b>Shown once.</b> {note}</p>
      <div className="snippet"><pre data-secret>{text}</pre><CopyButton text={text} /></div>
    </div>
  );
}
