import { Link, useLocation } from '@remix-run/react';
import { useEffect, useState } from 'react';
import type { JourneyView } from '../../server/console/journey.js';
import { CopyButton } from './ui/copy-button';
import { Section } from './ui/section';

type Answer = Pick<JourneyView, 'answer' | 'timeZone' | 'situation' | 'step'>;

const languages = [{ code: 'en', name: 'English' }, { code: 'de', name: 'German' }] as const;

/** What to tell the customer, in both languages, ready to be copied. A change of what is told, not of its figures, is spoken. */
export function JourneyAnswer({ view }: { view: Answer }) {
  return (
    <Section title="Answer for the customer" aside={<ZoneChoice zone={view.timeZone} />}>
      <div className="card answer" data-situation={view.situation}>
        {languages.map(({ code, name }) => (
          <div key={code} className="answer-language">
            <p lang={code} data-answer={code}>{view.answer[code]}</p>
            <CopyButton text={view.answer[code]} label={`Copy ${name}`} />
          </div>
        ))}
      </div>
      <Spoken view={view} />
    </Section>
  );
}

function Spoken({ view }: { view: Answer }) {
  const told = `${view.situation} ${view.step ?? ''}`;
  const [heard] = useState(told);
  return <p className="visually-hidden" role="status">{told === heard ? '' : `The answer has changed: ${view.answer.en}`}</p>;
}

/** Times are told in UTC or in the viewer's zone, each saying which; the choice is in the URL. */
function ZoneChoice({ zone }: { zone: string }) {
  const [own, setOwn] = useState<string | null>(null);
  const location = useLocation();
  useEffect(() => setOwn(Intl.DateTimeFormat().resolvedOptions().timeZone), []);
  if (own === null || (own === 'UTC' && zone === 'UTC')) return <>times in {zone}</>;
  const other = zone === 'UTC' ? own : 'UTC';
  const query = new URLSearchParams(location.search);
  if (other === 'UTC') query.delete('zone');
  else query.set('zone', other);
  return <>times in {zone} · <Link className="link" replace preventScrollReset to={{ search: query.toString() }}>use {other}</Link></>;
}
