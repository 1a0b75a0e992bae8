import { useEffect, useId, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import type { BulkRows } from '../../server/console/bulk-rows.js';
import { BulkOutcomes } from './action-bulk-outcomes';
import { Button } from './ui/button';
import { Dialog } from './ui/dialog';
import { readBulk, useBulkRun, type BulkOrder, type BulkRun } from '~/bulk';
import { actionWords } from '~/format/action-words';
import { bulkOutlook, bulkProgress, bulkQuestion, bulkSummary, type BulkOutlook } from '~/format/bulk-words';
import { count, counted } from '~/format/count';
import { useNow } from '~/live/use-live';
import { useRights, useWhyNot } from '~/rights';

const MAX_REASON_CHARS = 500;
/** Until it is pressed, the rows are read again so often (ms). */
const AGAIN_MS = 5_000;

interface Props {
  order: BulkOrder;
  /** Put aside while it goes on. */
  aside: boolean;
  setAside: (aside: boolean) => void;
  onClose: () => void;
  onClosed: () => void;
  /** It ended while its card was put aside. */
  onEnded: (summary: string) => void;
}

/** One action on many rows: how many it is possible for now, one reason, progress, and what became of each. */
export default function BulkCard({ order, aside, setAside, onClose, onClosed, onEnded }: Props) {
  const [reason, setReason] = useState('');
  const [leaving, setLeaving] = useState(false);
  const run = useBulkRun(order);
  const { rows, fault } = useBulkRows(order, run.state === 'ready');
  const over = run.state === 'ended' || run.state === 'stopped';
  const summary = bulkSummary(order.action, run.answers, run.rows.length - run.answers.length);
  useEffect(() => {
    if (over && aside) onEnded(summary);
  }, [over, aside, summary, onEnded]);
  const close = () => {
    if (run.state === 'running') setAside(true);
    else if (over || leaving || reason.trim() === '') onClose();
    else setLeaving(true);
  };
  if (aside) return run.state === 'running' ? <button type="button" className="pill bulk-aside" onClick={() => setAside(false)}>{bulkProgress(order.action, run.answers.length, run.rows.length)}<span className="visually-hidden">: show</span></button> : null;
  const title = bulkQuestion(order.action, run.state === 'ready' ? (rows?.rows.length ?? order.ids?.length ?? 0) : run.rows.length, order.queue.noun);
  return (
    <Dialog open onOpenChange={(open) => open || close()} title={run.state === 'ready' ? title : title.replace('?', '')} className="action-card" focusFirst="[data-needs=reason]" onClosed={onClosed}>
      {run.state === 'ready' ? <Ready order={order} rows={rows} fault={fault} reason={reason} setReason={setReason} start={run.start} leaving={leaving} stay={() => setLeaving(false)} onClose={close} />
        : <Running order={order} run={run} summary={summary} onAside={() => setAside(true)} onClose={onClose} />}
    </Dialog>
  );
}

function useBulkRows(order: BulkOrder, wanted: boolean): { rows: BulkRows | null; fault: string | null } {
  const [rows, setRows] = useState<BulkRows | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    if (!wanted) return;
    const controller = new AbortController();
    const read = () => readBulk(order, controller.signal).then((answer) => {
      setRows(answer);
      setFault(null);
    }, (error: Error) => void (controller.signal.aborted || setFault(error.message)));
    void read();
    const timer = setInterval(() => void read(), AGAIN_MS);
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [order, wanted]);
  return { rows, fault };
}

interface ReadyProps {
  order: BulkOrder;
  rows: BulkRows | null;
  fault: string | null;
  reason: string;
  setReason: (reason: string) => void;
  start: BulkRun['start'];
  leaving: boolean;
  stay: () => void;
  onClose: () => void;
}

function Ready({ order, rows, fault, reason, setReason, start, leaving, stay, onClose }: ReadyProps) {
  const now = useNow();
  const rights = useRights();
  const whyNot = useWhyNot(order.action);
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const outlook = bulkOutlook(order.action, rows?.rows ?? [], now, rights);
  const n = outlook.possible.length;
  const blocked = whyNot ?? fault ?? (rows === null ? 'Reading how they stand now.' : n === 0 ? 'Not possible for any of them now.' : reason.trim() === '' ? 'Say why first.' : null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (blocked === null) start(outlook.possible, reason);
    else field.current?.focus();
  };
  return (
    <form className="action-form" onSubmit={submit} noValidate>
      {rows === null ? <p className="dim">Reading how they stand now…</p> : <Outlook outlook={outlook} rows={rows} />}
      <div className="form-field">
        <label htmlFor={`${id}-reason`}>Reason <span className="dim">(kept in the audit with each row)</span></label>
        <textarea ref={field} id={`${id}-reason`} className="field action-reason" rows={2} required maxLength={MAX_REASON_CHARS} value={reason} onChange={(event) => setReason(event.target.value)} data-needs="reason" />
      </div>
      <p className="soft text-[13px]">Each row is judged by its own statement when its turn comes; one that is refused stops no other. Closing the tab leaves the rest undone.</p>
      {leaving ? (
        <div className="action-buttons" role="alert"><span className="soft">Nothing was done yet. Drop what you typed?</span><Button onClick={onClose}>Drop it and close</Button><Button look="primary" onClick={stay} autoFocus>Stay here</Button></div>
      ) : (
        <div className="action-buttons">
          <Button type="submit" look="primary" aria-disabled={blocked !== null || undefined} aria-describedby={`${id}-why`}>{actionWords(order.action).label.replace(/ it$/, '')}{n > 0 ? `: ${n}` : ''}</Button>
          <Button onClick={onClose}>Leave them</Button>
        </div>
      )}
      <p id={`${id}-why`} className="action-why" role="status">{blocked}</p>
    </form>
  );
}

function Outlook({ outlook: { possible, not }, rows: { rows, wanted } }: { outlook: BulkOutlook; rows: BulkRows }) {
  return (
    <div data-possible={possible.length}>
      <p><b>{count(possible.length)} of {count(rows.length)}</b> now, as far as the rows tell.</p>
      {not.length > 0 ? <ul className="plain soft">{not.map(([why, n]) => <li key={why}>{counted(n, 'row is', 'rows are')} left out: {why}</li>)}</ul> : null}
      {wanted > rows.length ? <p className="soft">{count(wanted)} were asked for: the newest {count(rows.length)} are taken, do it again for the rest.</p> : null}
    </div>
  );
}

function Running({ order, run, summary, onAside, onClose }: { order: BulkOrder; run: BulkRun; summary: string; onAside: () => void; onClose: () => void }) {
  const { state, rows, answers, fault, stop, resume } = run;
  const [stopping, setStopping] = useState(false);
  const running = state === 'running';
  const words = bulkProgress(order.action, answers.length, rows.length);
  return (
    <div className="action-form" data-bulk={state}>
      <div>
        <progress className="bulk-progress" value={answers.length} max={rows.length} aria-label={words} />
        <p role="status">{running ? <>{words}{stopping ? ' · stopping after these' : ''}</> : <><b>{state === 'ended' ? 'Done.' : 'Stopped.'}</b> {summary}.</>}</p>
        {fault ? <p className="action-note tone-low" role="alert">{fault}</p> : null}
      </div>
      {running ? (
        <div className="action-buttons">
          <Button onClick={() => { setStopping(true); stop(); }} aria-disabled={stopping || undefined} autoFocus>Stop after these</Button>
          <Button onClick={onAside}>Go on in the background</Button>
          <span className="dim text-[13px]">Closing the tab leaves the rest undone.</span>
        </div>
      ) : (
        <>
          <BulkOutcomes order={order} rows={rows} answers={answers} />
          <div className="action-buttons">
            <Button look="primary" onClick={onClose} autoFocus>Close</Button>
            {state === 'stopped' ? <Button onClick={() => { setStopping(false); resume(); }}>Go on with the other {rows.length - answers.length}</Button> : null}
          </div>
        </>
      )}
    </div>
  );
}
