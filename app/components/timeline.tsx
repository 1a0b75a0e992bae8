import { Link } from '@remix-run/react';
import type { AuditEntry } from '../../server/console/audit.js';
import type { EventView } from '../../server/console/row-page.js';
import { Age, Instant } from './age';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { actionWords, refusalWord } from '~/format/action-words';
import { auditPath } from '~/format/audit-words';
import { counted } from '~/format/count';
import { eventWords } from '~/format/event-words';
import { historyOf, type HistoryItem } from '~/format/history';

/** Every transition and everything people did or tried, newest first, in words. */
export function Timeline({ events, more, actions }: { events: EventView[]; more: boolean; actions: AuditEntry[] }) {
  const items = historyOf(events, actions, more);
  return (
    <Section title="Timeline" aside={more ? `newest ${events.length} shown, there are older ones` : counted(items.length, 'event')}>
      {items.length === 0 ? <p className="card dim px-[14px] py-3">Nothing is recorded: its events were removed by retention.</p>
        : <ol className="card timeline">{items.map((item) => <TimelineItem key={item.action ? `action ${item.action.id}` : item.event.id} item={item} />)}</ol>}
    </Section>
  );
}

function TimelineItem({ item: { at, event, action } }: { item: HistoryItem }) {
  if (action?.outcome === 'refused') return <Refused action={action} />;
  const look = event ? eventWords(event) : ({ tone: 'waiting', shape: 'tick', text: '' } as const);
  return (
    <li className={`tone-${look.tone}`} data-cause={event?.cause} data-action={action?.action}>
      <Shape name={look.shape} />
      <div className="min-w-0">
        {action ? <Deed action={action} /> : <p><bdi>{look.text}</bdi></p>}
        <p className="dim text-[12.5px]"><Instant at={at} />{event?.leaseToken && event.leaseToken !== '0' ? <> · token <span className="mono">#{event.leaseToken}</span></> : null}</p>
      </div>
      <span className="soft whitespace-nowrap"><Age at={at} suffix=" ago" /></span>
    </li>
  );
}

function Deed({ action }: { action: AuditEntry }) {
  return (
    <>
      <p><Link className="row-link" discover="none" to={auditPath({ target: action.targetId })}><bdi>{action.actor}</bdi> {actionWords(action.action).did}</Link>{action.reason ? <>: <bdi>“{action.reason}”</bdi></> : null}</p>
      <p className="soft text-[12.5px]"><bdi>{action.answer}</bdi></p>
    </>
  );
}

/** Nothing came of it: said in one quiet line. */
function Refused({ action }: { action: AuditEntry }) {
  return (
    <li className="tone-off dim" data-action={action.action} data-refusal={action.refusal}>
      <Shape name="dash" />
      <p className="min-w-0 text-[13px]"><Link discover="none" className="quiet-link" to={auditPath({ target: action.targetId, outcome: 'refused' })}><bdi>{action.actor}</bdi> tried “{actionWords(action.action).label}”</Link>: refused, {refusalWord(action.refusal ?? '')}</p>
      <span className="whitespace-nowrap text-[13px]"><Age at={action.at} suffix=" ago" /></span>
    </li>
  );
}
