import { useFetcher } from '@remix-run/react';
import { Suspense, lazy, useEffect, useState } from 'react';
import type { SeriesView } from '../../server/console/series.js';
import { Section } from './ui/section';

/** The chart library is larger than everything else together: it comes after the page is usable. */
const LastHourChart = lazy(() => import('~/charts/last-hour'));

/** A closed minute is all that can change (milliseconds). */
const REFRESH_MS = 60_000;

export function LastHour() {
  const { data, load } = useFetcher<SeriesView | null>();
  const [idle, setIdle] = useState(false);
  useEffect(() => {
    load('/series');
    const timer = setInterval(() => load('/series'), REFRESH_MS);
    const start = setTimeout(() => setIdle(true), 50);
    return () => {
      clearInterval(timer);
      clearTimeout(start);
    };
  }, [load]);
  return (
    <Section title="Last hour" aside="closed minutes">
      <div className="card chart-card">
        {idle && data ? <Suspense fallback={null}><LastHourChart series={data} /></Suspense> : null}
      </div>
    </Section>
  );
}
