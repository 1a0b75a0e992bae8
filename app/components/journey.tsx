import { Link } from '@remix-run/react';
import type { JourneyAction } from '../../server/console/journey-rows.js';
import type { JourneyView } from '../../server/console/journey.js';
import { Age } from './age';
import { FollowJourney } from './journey-follow';
import { JourneyAnswer } from './journey-answer';
import { OutsideName } from './names';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { age } from '~/format/age';
import { counted } from '~/format/count';
import { errorMeaning } from '~/format/error-words';
import type { StageLine } from '~/format/journey';
import { actionWords, etaWords, nextWords, redeployWords, stageLines, stageLooks, whichWords } from '~/format/journey';
import { useNow } from '~/live/use-live';

/** Where a report is: the answer for the customer, then the five stages it goes through, what happens next, and who did what to it. Follows along live. */
export function Journey({ view, latest = true }: { view: JourneyView; latest?: boolean }) {
  const which = whichWords(view, latest);
  return (
    <>
      <FollowJourney view={view} />
      <JourneyAnswer view={view} />
      <Section title="Journey" aside={which}>
        <ol className="card journey">{stageLines(view).map((line) => <Stage key={line.name} line={line} />)}</ol>
        <Next view={view} />
      </Section>
      <Failures view={view} />
      <Actions view={view} />
    </>
  );
}

function Stage({ line }: { line: StageLine }) {
  const { word, tone, shape } = stageLooks[line.state];
  return (
    <li className={`tone-${tone}`} data-step={line.name} data-step-status={line.state}>
      <p className="journey-title"><Shape name={shape} />{line.title}<span className="visually-hidden">: {word}</span></p>
      <p className={line.state === 'ahead' ? 'dim' : 'journey-figure'}>{line.figure}</p>
      <p className="soft journey-notes">{line.notes.map((note) => <bdi key={note}>{note}</bdi>)}</p>
      <p className="dim journey-at">{line.at === null ? null : <Age at={line.at} prefix={line.ended ? '' : 'began '} suffix=" ago" />}</p>
    </li>
  );
}

function Next({ view }: { view: JourneyView }) {
  const now = useNow();
  const { text, label, at } = nextWords(view);
  const [expected, redeploys] = [etaWords(view), redeployWords(view)];
  return (
    <div className="journey-next soft">
      <p data-next={view.next.what}>
        <b>Next: </b>{text}
        {label === null || at === null ? null : <span className="dim" suppressHydrationWarning> · {label} {at > now ? `in ${age(at - now)}` : 'due'}</span>}
      </p>
      {expected ? <p>{expected}</p> : null}
      {redeploys ? <p><bdi>{redeploys}</bdi></p> : null}
    </div>
  );
}

/** More than these are read in the list of files. */
const FAILURES_SHOWN = 10;

function Failures({ view: { failures } }: { view: JourneyView }) {
  if (failures.length === 0) return null;
  return (
    <Section title="Files that could not be read" aside={counted(failures.length, 'file')}>
      <ul className="card journey-list">
        {failures.slice(0, FAILURES_SHOWN).map(({ id, filename, code }) => (
          <li key={id} className="tone-failed"><Shape name="cross" /><p><Link className="row-link" discover="none" to={`/queues/parse-items/${id}`}><OutsideName name={filename} width="40ch" /></Link> <bdi className="mono">{code}</bdi> <span className="soft">{errorMeaning(code)}</span></p></li>
        ))}
        {failures.length > FAILURES_SHOWN ? <li className="dim"><span />and {counted(failures.length - FAILURES_SHOWN, 'more file')}</li> : null}
      </ul>
    </Section>
  );
}

function Actions({ view: { actions } }: { view: JourneyView }) {
  if (actions.length === 0) return null;
  return (
    <Section title="What operators did" aside="newest first">
      <ul className="card journey-list">{actions.map((action) => <Action key={action.id} action={action} />)}</ul>
    </Section>
  );
}

function Action({ action }: { action: JourneyAction }) {
  return (
    <li data-operator-action={action.action}>
      <Shape name="ring" />
      <p><b>{actionWords(action.action)}</b> by <bdi>{action.actor}</bdi>{action.reason ? <span className="soft">: <bdi>{action.reason}</bdi></span> : null}</p>
      <span className="dim"><Age at={action.at} suffix=" ago" /></span>
    </li>
  );
}
