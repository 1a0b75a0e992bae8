import type { EventView } from '../../server/console/row-page.js';
import { Age, Instant } from './age';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import { counted } from '~/format/count';
import { eventWords } from '~/format/event-words';

/** Every transition, newest first, in words. */
export function Timeline({ events, more }: { events: EventView[]; more: boolean }) {
  return (
    <Section title="Timeline" aside={more ? `newest ${events.length} shown, there are older ones` : counted(events.length, 'event')}>
      {events.length === 0 ? <p className="card dim px-[14px] py-3">Nothing is recorded: its events were removed by retention.</p>
        : <ol className="card timeline">{events.map((event) => <TimelineItem key={event.id} event={event} />)}</ol>}
    </Section>
  );
}

function TimelineItem({ event }: { event: EventView }) {
  const { tone, shape, text } = eventWords(event);
  return (
    <li className={`tone-${tone}`} data-cause={event.cause}>
      <Shape name={shape} />
      <div className="min-w-0">
        <p><bdi>{text}</bdi></p>
        <p className="dim text-[12.5px]"><Instant at={event.at} />{event.leaseToken && event.leaseToken !== '0' ? <> · token <span className="mono">#{event.leaseToken}</span></> : null}</p>
      </div>
      <span className="soft whitespace-nowrap"><Age at={event.at} suffix=" ago" /></span>
    </li>
  );
}
