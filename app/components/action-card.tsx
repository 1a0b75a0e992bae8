import { Link } from '@remix-run/react';
import { useCallback, useId, useRef, useState } from 'react';
import type { FormEvent, KeyboardEvent } from 'react';
import { Fact, RowEvidence, SnapshotEvidence } from './action-evidence';
import { AnswerNote } from './action-answer';
import { Button } from './ui/button';
import { Dialog } from './ui/dialog';
import type { CardView, Order } from '~/acting';
import { useAttempt } from '~/attempting';
import { actionWords } from '~/format/action-words';
import { useJudging, type Judging } from '~/judging';
import { useWhyNot } from '~/rights';

/** As the server keeps it (server/operations/operate.ts). */
const MAX_REASON_CHARS = 500;

/**
 * The evidence, the reason, the press, the answer: one card for every action. Opening it always reads again; while it is open it follows what
 * happens to the row, and what was typed stays.
 */
export default function ActionCard({ order: asked, onClose, onClosed }: { order: Order; onClose: () => void; onClosed: () => void }) {
  const [order, setOrder] = useState(asked);
  const [reason, setReason] = useState('');
  const [confirmation, setConfirmation] = useState('');
  const [leaving, setLeaving] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  const { pending, answer, doubt, press, renew } = useAttempt();
  const applied = answer?.outcome === 'applied';
  const judging = useJudging(order, applied);
  const { again, view } = judging;
  const blocked = useBlocked(order, judging, doubt === 'this', reason, confirmation);
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const words = actionWords(order.action);
  const onChange = useCallback((_mark: string, seen: string) => {
    setToken(seen);
    again();
  }, [again]);
  const close = () => {
    if (pending) return;
    if (applied || leaving || (reason.trim() === '' && confirmation === '')) onClose();
    else setLeaving(true);
  };
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (blocked === null) press(order, reason, confirmation);
    else form.current?.querySelector<HTMLElement>(`[data-needs="${blocked.needs ?? ''}"]`)?.focus();
  };
  const lookAnew = () => {
    setOrder({ ...order, fields: { ...order.fields, token: token! } });
    renew();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
  };
  const expected = view?.judged.possible ? view.judged.confirmation : null;
  const anew = !applied && order.fields.token !== undefined && token !== null && token !== order.fields.token;
  return (
    <Dialog open onOpenChange={(open) => open || close()} title={<Ask words={order.ask ?? words.ask} subject={order.subject} />} className="action-card" focusFirst="[data-needs=reason]" onClosed={onClosed}>
      <dl className="action-facts" aria-label="Evidence">
        <Evidence view={view} order={order} applied={applied} onChange={onChange} />
      </dl>
      {answer ? <AnswerNote answer={answer} /> : null}
      {applied ? null : <Truth judging={judging} repeats={doubt === 'this'} told={answer?.outcome === 'refused' ? answer.code : null} />}
      {anew ? <p className="mt-3"><Button onClick={lookAnew}>Judge the lease #{token} instead</Button></p> : null}
      {applied ? (
        <div className="action-buttons"><Button look="primary" onClick={onClose} autoFocus>Close</Button><Link className="link" to="/audit" onClick={onClose}>It is in the audit</Link></div>
      ) : (
        <form ref={form} onSubmit={submit} onKeyDown={onKeyDown} className="action-form" noValidate>
          <div className="form-field">
            <label htmlFor={`${id}-reason`}>Reason <span className="dim">(kept in the audit)</span></label>
            <textarea id={`${id}-reason`} className="field action-reason" rows={2} required maxLength={MAX_REASON_CHARS} value={reason} onChange={(event) => setReason(event.target.value)} data-needs="reason" />
          </div>
          {expected === null ? null : (
            <div className="form-field">
              <label htmlFor={`${id}-confirm`}>Type <bdi className="mono">{expected}</bdi> to confirm</label>
              <input id={`${id}-confirm`} className="field mono" required autoComplete="off" spellCheck={false} value={confirmation} onChange={(event) => setConfirmation(event.target.value)} data-needs="confirmation" />
            </div>
          )}
          {leaving ? <Leave doubt={doubt !== null} onStay={() => setLeaving(false)} onLeave={onClose} /> : (
            <div className="action-buttons">
              <Button type="submit" look="primary" aria-disabled={blocked !== null || pending || undefined} aria-describedby={`${id}-why`}>{pending ? 'Acting…' : words.label}</Button>
              <Button onClick={close} aria-disabled={pending || undefined}>Leave it</Button>
            </div>
          )}
          <p id={`${id}-why`} className="action-why" role="status">{pending ? 'Waiting for the answer.' : blocked?.why}</p>
        </form>
      )}
    </Dialog>
  );
}

function Ask({ words: [before, after], subject }: { words: readonly [string, string]; subject: string }) {
  return <>{before} <bdi className="wrap-anywhere">{subject}</bdi>{after === '?' ? '' : ' '}{after}</>;
}

interface EvidenceProps {
  view: CardView | null;
  order: Order;
  applied: boolean;
  onChange: (mark: string, token: string) => void;
}

function Evidence({ view, order, applied, onChange }: EvidenceProps) {
  if (view === null) return <Fact name="State"><span className="dim">Reading how it stands now…</span></Fact>;
  const { judged, page, guard, consequence } = view;
  return (
    <>
      {page ? <RowEvidence page={page} action={order.action} token={order.fields.token} onChange={onChange} /> : <SnapshotEvidence snapshot={judged.possible ? judged.before : judged.now} />}
      {applied ? null : <><Fact name="Guard">{guard}</Fact><Fact name="Then">{consequence}</Fact></>}
    </>
  );
}

/** What the database said when it was asked last: heard by a screen reader when it changes. `told`: what the press was refused with, which need not be said twice. */
function Truth({ judging: { view, fault }, repeats, told }: { judging: Judging; repeats: boolean; told: string | null }) {
  const no = view !== null && !view.judged.possible ? view.judged : null;
  return (
    <div role="status" data-judged={view === null ? 'reading' : no ? no.code : 'possible'}>
      {fault ? <p className="action-note tone-low">{fault}</p> : null}
      {no && no.code !== told ? <Impossible text={no.text} repeats={repeats} /> : null}
      {view?.judged.possible ? <span className="visually-hidden">Possible now.</span> : null}
    </div>
  );
}

/** That nothing was changed is true of the reading; of a press whose answer is lost nobody knows it. */
function Impossible({ text, repeats }: { text: string; repeats: boolean }) {
  if (!repeats) return <p className="action-note tone-stale"><b>Not possible now.</b> <bdi>{text}</bdi></p>;
  return <p className="action-note tone-low"><b>Not possible any more.</b> <bdi>{text.split(' Nothing was changed')[0]}</bdi> That may be your own press: press again, and you are told.</p>;
}

function Leave({ doubt, onStay, onLeave }: { doubt: boolean; onStay: () => void; onLeave: () => void }) {
  return (
    <div className="action-buttons" role="alert">
      <span className="soft">{doubt ? 'Not known whether it took effect; the audit will tell. Drop what you typed?' : 'Nothing was done yet. Drop what you typed?'}</span>
      <Button onClick={onLeave}>Drop it and close</Button>
      <Button look="primary" onClick={onStay} autoFocus>Stay here</Button>
    </div>
  );
}

/**
 * Why the press would be of no use now, and the field that is missing, if one is. One whose outcome is not known may always be repeated: it may
 * be the very reason why it is not possible any more, and only the repeated attempt tells.
 */
function useBlocked(order: Order, { view, fault }: Judging, repeats: boolean, reason: string, confirmation: string): { why: string; needs?: string } | null {
  const whyNot = useWhyNot(order.action);
  if (whyNot !== null) return { why: whyNot };
  if (repeats && reason.trim() !== '') return null;
  if (fault !== null) return { why: 'Waiting until it can be read.' };
  if (view === null) return { why: 'Reading how it stands now.' };
  if (!view.judged.possible) return { why: 'Not possible now; this follows along and says when it is.' };
  if (reason.trim() === '') return { why: 'Say why first.', needs: 'reason' };
  const { confirmation: expected } = view.judged;
  return expected !== null && confirmation.trim() !== expected ? { why: `Type ${expected} to confirm.`, needs: 'confirmation' } : null;
}
