import { useRouteLoaderData } from '@remix-run/react';
import type { NowView } from '../../server/console/now.js';
import { ActionButton } from './action-button';
import { Age } from './age';
import { OutsideName } from './names';
import { useLiveView } from '~/live/use-live';
import type { loader as consoleLoader } from '~/routes/_console';

/** Whether the queue hands out work, who stopped it and why, and the way to change that. */
export function QueuePause({ slug, title }: { slug: string; title: string }) {
  const { now } = useRouteLoaderData<typeof consoleLoader>('routes/_console')!;
  const paused = useLiveView<NowView>('summary', now!).queues.find((queue) => queue.slug === slug)?.paused ?? null;
  if (paused === null) return <ActionButton order={{ action: 'pause_queue', fields: { queue: slug }, subject: title }} label="Pause" />;
  return (
    <>
      <span className="tone-text-low max-w-[72ch]" data-paused>paused by <OutsideName name={paused.by} width="16ch" /> <Age at={paused.at} suffix=" ago" />: <bdi className="wrap-anywhere">{paused.reason}</bdi></span>
      <ActionButton order={{ action: 'resume_queue', fields: { queue: slug }, subject: title }} label="Resume" />
    </>
  );
}
