import type { ComponentProps } from 'react';
import type { WebhookState } from '../../server/console/webhook-state.js';
import { Age } from './age';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { counted } from '~/format/count';
import { duration } from '~/format/age';

/** Who is told of what needs attention, and whether they take it. @param state undefined where WEBHOOK_URL is unset. */
export function WebhookCard({ state, graceSeconds }: { state: WebhookState | undefined; graceSeconds: number }) {
  return (
    <Section title="Webhook" aside="WEBHOOK_URL, as this web process was started">
      <div className="card settings-card grid gap-2">
        {state ? <Told state={state} /> : <p><State tone="low" shape="dash" word="unset" /> · nobody is told of what needs attention.</p>}
        <p className="soft">
          {state
            ? <>It is told what begins to need attention on Now, and when that is over, each once it has lasted for <b>{duration(graceSeconds * 1000)}</b> (<code>WEBHOOK_GRACE_SECONDS</code>). Read-only or not. Try it: <code>npx leaseboard webhook test</code>.</>
            : <>Set <code>WEBHOOK_URL</code> for the web processes and restart them: it is told, as JSON, what begins to need attention on Now, and when that is over.</>}
        </p>
      </div>
    </Section>
  );
}

function State({ tone, shape, word }: { tone: 'done' | 'low'; shape: ComponentProps<typeof Shape>['name']; word: string }) {
  return <span className={`state tone-${tone}`}><Shape name={shape} />{word}</span>;
}

function Told({ state: { host, failingSince, trouble, lastSentAt, lastFailureAt, waiting } }: { state: WebhookState }) {
  return (
    <>
      <p>
        {failingSince === null
          ? <>{lastSentAt === null ? <State tone="low" shape="dash" word="untried" /> : <State tone="done" shape="tick" word="well" />} · <b>{host}</b> is told of what needs attention.</>
          : <><State tone="low" shape="alert" word="failing" /> · <b>{host}</b> has not taken messages for <Age at={failingSince} />: it {trouble}.</>}
      </p>
      <p className="dim">
        {lastSentAt === null ? 'It has taken no message yet' : <>It last took a message <Age at={lastSentAt} suffix=" ago" /></>}
        {lastFailureAt === null ? null : <> · last failed <Age at={lastFailureAt} suffix=" ago" /></>}
        {waiting === 0 ? ' · none waits' : ` · ${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'}`}
      </p>
    </>
  );
}
