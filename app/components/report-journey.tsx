import type { ReportPage } from '../../server/console/report.js';
import type { RowView } from '../../server/console/row-view.js';
import { Age } from './age';
import { Section } from './ui/section';
import { Shape } from './ui/shape';
import type { Step } from '~/format/journey';
import { journeyOf, stepLooks } from '~/format/journey';

export function ReportJourney({ page, row }: { page: ReportPage; row: RowView }) {
  return (
    <Section title="Journey">
      <ol className="card journey">{journeyOf(page, row).map((step) => <JourneyStep key={step.key} step={step} />)}</ol>
    </Section>
  );
}

function JourneyStep({ step }: { step: Step }) {
  const { word, tone, shape } = stepLooks[step.status];
  return (
    <li className={`tone-${tone}`} data-step={step.key} data-step-status={step.status}>
      <p className="journey-title"><Shape name={shape} />{step.title}<span className="visually-hidden">: {word}</span></p>
      <p className={step.status === 'ahead' ? 'dim' : 'journey-figure'}>{step.figure}</p>
      {step.note ? <p className="soft"><bdi>{step.note}</bdi></p> : null}
      {step.at !== null ? <p className="dim"><Age at={step.at} suffix=" ago" /></p> : null}
    </li>
  );
}
