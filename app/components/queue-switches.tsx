import { Link } from '@remix-run/react';
import type { QueueSwitch } from '../../server/console/settings-state.js';
import { ActionButton } from './action-button';
import { Age } from './age';
import { OutsideName } from './names';
import { Section } from './ui/section';
import { Shape } from './ui/shape';

/** Every queue, and who stopped it, since when and why. */
export function QueueSwitches({ switches }: { switches: QueueSwitch[] }) {
  return (
    <Section title="Queue pauses" aside="a paused queue hands nothing out; what is held goes on">
      <div className="card table-wrap">
        <table className="table stack" aria-label="Queue pauses">
          <thead><tr><th scope="col">Queue</th><th scope="col">State</th><th scope="col">By</th><th scope="col">Why</th><th scope="col" className="r">Since</th><th scope="col"><span className="visually-hidden">Action</span></th></tr></thead>
          <tbody>
            {switches.map(({ slug, title, paused }) => (
              <tr key={slug} data-queue={slug}>
                <td className="first"><Link className="row-link" to={`/queues/${slug}`}>{title}</Link></td>
                <td>{paused ? <span className="state tone-low"><Shape name="alert" />paused</span> : <span className="state tone-done"><Shape name="tick" />handing out</span>}</td>
                <td data-label={paused ? 'by' : undefined}>{paused ? <OutsideName name={paused.by} width="20ch" /> : null}</td>
                <td className="wrap wrap-anywhere" data-label={paused?.reason ? 'why' : undefined}>{paused?.reason ? <bdi>{paused.reason}</bdi> : null}</td>
                <td className="r" data-label={paused ? 'since' : undefined}>{paused ? <Age at={paused.at} suffix=" ago" /> : null}</td>
                <td className="r"><ActionButton order={{ action: paused ? 'resume_queue' : 'pause_queue', fields: { queue: slug }, subject: title }} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
