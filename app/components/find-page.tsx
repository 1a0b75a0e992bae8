import { Form, Link, useNavigation, useSubmit } from '@remix-run/react';
import type { KeyboardEvent, ReactNode, RefObject } from 'react';
import { useEffect, useRef } from 'react';
import type { FindAnswer, FindGroup, FindHit, FindSubject } from '../../server/console/find-view.js';
import { HitLine } from './find-hit';
import { OutsideId, OutsideName } from './names';
import { EmptyState } from './ui/empty-state';
import { Section } from './ui/section';
import { counted } from '~/format/count';
import { examples, findPath, groupTitles, hitPath, moreWords, nameLimit, ownPage } from '~/format/find-words';
import { sessionPath } from '~/format/session-words';
import { useHydrated } from '~/hydrated';
import { useRecent } from '~/find-recent';

/** A pause in typing (milliseconds) after which the page answers by itself. */
const PAUSE_MS = 250;

interface Props {
  answer: FindAnswer;
  /** Whose journey is told; null when a person must choose, or there is none. */
  subject: FindSubject | null;
  operator: string;
  /** The journey of the subject, or what to say when nothing was found. */
  children: ReactNode;
}

export function FindPage({ answer, subject, operator, children }: Props) {
  const recent = useRecent(operator);
  const box = useFocus(answer, `${answer.text} ${subject?.userId} ${subject?.sessionId} ${subject?.analysisId}`);
  return (
    <>
      <div className="queue-head"><h1>Find</h1><span className="dim">where is my report?</span></div>
      <Box text={answer.text} focus={box} remember={recent.remember} />
      {answer.text === '' && !subject ? <Examples searches={recent.searches} clear={recent.clear} /> : (
        <>
          <Choice answer={answer} subject={subject} />
          {subject ? <Told answer={answer} subject={subject} /> : null}
          {children}
          <div onKeyDown={moveBetweenHits}>
            {answer.groups.length > 0 || subject ? answer.groups.map((group) => <Group key={group.name} group={group} text={answer.text} subject={subject} />) : <Nothing text={answer.text} />}
          </div>
          <Limit answer={answer} />
        </>
      )}
    </>
  );
}

interface BoxFocus {
  input: RefObject<HTMLInputElement>;
  /** Enter was pressed: the next answer takes the focus. */
  entered(): void;
}

/**
 * Whoever opened an answer copies it with one more key: the focus is on the copy button, or on the first hit. Whoever types keeps it in the box.
 * `answer` is a new one with each reading: on a busy machine a reading may come and go between two paints, and `busy` is then never seen.
 */
function useFocus(answer: FindAnswer, told: string): BoxFocus {
  const input = useRef<HTMLInputElement>(null);
  const entered = useRef(true);
  const before = useRef('');
  const busy = useNavigation().state !== 'idle';
  useEffect(() => {
    if (busy) return;
    const changed = before.current !== told && document.activeElement !== input.current;
    before.current = told;
    if (!changed && !entered.current) return;
    entered.current = false;
    document.querySelector<HTMLElement>('.answer-language button, .hit')?.focus({ preventScroll: true });
  }, [answer, told, busy]);
  return { input, entered: () => { entered.current = true; } };
}

function moveBetweenHits(event: KeyboardEvent<HTMLElement>) {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('.hit')];
  const at = all.findIndex((hit) => hit === document.activeElement);
  if (step === 0 || at < 0) return;
  event.preventDefault();
  all[Math.max(0, Math.min(all.length - 1, at + step))]!.focus();
}

/** Two customers that fit alike: the wrong one's report must not go into a reply. */
function Choice({ answer, subject }: { answer: FindAnswer; subject: FindSubject | null }) {
  const open = subject === null ? answer.groups.flatMap(({ hits }) => hits.filter((hit) => hit.kind === 'address' || hit.subject !== null)).length : 0;
  if (open === 0) return null;
  return <p className="card find-choice" role="status">{open === 1 ? 'One fits in part. Open it if it is whose report is asked for' : 'More than one fits. Choose whose report is asked for'}; nothing is told before.</p>;
}

/** Answers while somebody types; enter answers at once. The address of the page is always the search. */
function Box({ text, focus, remember }: { text: string; focus: BoxFocus; remember: (text: string) => void }) {
  const submit = useSubmit();
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef<number>();
  const busy = useNavigation().location?.pathname === '/find';
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    const { current: input } = focus.input;
    if (input && document.activeElement !== input) input.value = text;
  }, [text, focus.input]);
  const later = () => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => submit(form.current, { replace: true, preventScrollReset: true }), PAUSE_MS);
  };
  return (
    <Form ref={form} method="get" action="/find" role="search" className="find-form" onSubmit={(event) => {
      clearTimeout(timer.current);
      focus.entered();
      remember(String(new FormData(event.currentTarget).get('q') ?? '').trim());
    }}>
      <input ref={focus.input} className="field find-box" name="q" type="search" data-filter-box defaultValue={text} onChange={later} maxLength={255} autoComplete="off" spellCheck={false} autoFocus={text === ''} aria-label="Find" aria-busy={busy}
        placeholder="e-mail, session, id, file name, app, process" />
      <button type="submit" className="btn">Find</button>
    </Form>
  );
}

function Group({ group, text, subject }: { group: FindGroup; text: string; subject: FindSubject | null }) {
  return (
    <Section title={groupTitles[group.name]} aside={group.more ? moreWords(group) : undefined}>
      <ul className="card hits">
        {group.hits.map((hit, n) => <Hit key={n} hit={hit} text={text} told={isTold(hit, subject)} />)}
      </ul>
    </Section>
  );
}

/** Whether the journey above is this hit's. */
function isTold(hit: FindHit, subject: FindSubject | null): boolean {
  const { subject: own } = hit;
  return own !== null && subject !== null && own.userId === subject.userId && own.sessionId === subject.sessionId
    && (own.analysisId === undefined || subject.analysisId === undefined || own.analysisId === subject.analysisId);
}

function Hit({ hit, text, told }: { hit: FindHit; text: string; told: boolean }) {
  const own = ownPage(hit);
  return (
    <li aria-current={told ? 'true' : undefined}>
      <Link className="hit" discover="none" to={hitPath(hit, text)}><HitLine hit={hit} /></Link>
      {own ? <Link className="link" discover="none" to={own.path}>{own.word}<span className="visually-hidden"> page</span></Link> : null}
    </li>
  );
}

function Limit({ answer }: { answer: FindAnswer }) {
  const limit = nameLimit(answer);
  return limit === null ? null : <p className="soft find-limit" role="note">{limit}</p>;
}

function Nothing({ text }: { text: string }) {
  return (
    <div className="card section">
      <EmptyState title="Nothing is called that">
        <p className="soft">No row, session, address, file, app or process of this database fits <bdi>“{text}”</bdi>. Users and sessions are compared whole, capitals included; rows that retention or an erasure removed are not here any more.</p>
        <p className="soft">Ask for the e-mail address that the upload was made with, or for a part of the file's name.</p>
      </EmptyState>
    </div>
  );
}

function Examples({ searches, clear }: { searches: readonly string[]; clear: () => void }) {
  const hydrated = useHydrated();
  return (
    <>
      <dl className="card facts find-examples section">
        {examples.map(([what, how]) => <div key={what}><dt>{what}</dt><dd>{how}</dd></div>)}
      </dl>
      {hydrated && searches.length > 0 ? (
        <Section title="Recent searches" aside={`${counted(searches.length, 'search', 'searches')}, kept in this browser only`}>
          <div className="chips">
            {searches.map((search) => <Link key={search} className="chip" discover="none" to={findPath(search)}><bdi className="clip inline-block max-w-[32ch]">{search}</bdi></Link>)}
            <button type="button" className="btn quiet" onClick={clear}>Forget them</button>
          </div>
        </Section>
      ) : null}
    </>
  );
}

/** Whose journey this is, and what else the same customer has: the answer alone names nobody. */
function Told({ answer, subject }: { answer: FindAnswer; subject: FindSubject }) {
  const own = answer.groups.flatMap(({ hits }) => hits.filter((hit) => hit.kind === 'session' && hit.userId === subject.userId)).map((hit) => (hit.kind === 'session' ? hit : null)!);
  const email = own.find((hit) => hit.sessionId === subject.sessionId)?.email ?? null;
  const sessions = new Set(own.map((hit) => hit.sessionId)).size;
  return (
    <p className="find-told" data-told>
      <Link className="link" discover="none" to={sessionPath(subject.sessionId, subject.userId)}>Session <OutsideId id={subject.sessionId} width="30ch" /></Link>
      <span className="soft">of {email === null ? null : <><OutsideName name={email} width="36ch" />, </>}user <OutsideId id={subject.userId} width="24ch" /></span>
      {sessions > 1 ? <span className="soft">· one of {sessions} sessions of this customer, see below</span> : null}
    </p>
  );
}

/** It was there when the link to it was made, or the database is slow. */
export function NoJourney() {
  return <p className="card find-choice" role="status">The journey of this session could not be told: nothing of it is left, or the database did not answer in time. Reload in a moment, or open one of the rows below.</p>;
}
