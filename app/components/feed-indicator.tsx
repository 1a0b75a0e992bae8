import type { FeedState } from '../../server/console/live-feed.js';
import { clockTime, fullInstant, utcInstant } from '~/format/instant';
import { useHydrated } from '~/hydrated';
import { feedWords } from '~/live/feed-words';
import { useFeed, useNow } from '~/live/use-live';

/** Tone and shape by state, so that it is never the colour alone. */
const DOTS = {
  live: { colour: 'var(--done)', shape: 'rounded-full' },
  catching_up: { colour: 'var(--low)', shape: 'rounded-full hollow' },
  polling: { colour: 'var(--low)', shape: 'rounded-full' },
  offline: { colour: 'var(--stale)', shape: 'rounded-[2px]' },
} as const satisfies Record<FeedState, { colour: string; shape: string }>;

/** What a screen reader hears, once a change; the ticking line beside it is silent. */
const SPOKEN = {
  live: 'The page is live.',
  catching_up: 'The page is catching up.',
  polling: 'The listener is lost; the page polls.',
  offline: 'The page is offline: what it shows may be out of date. It reconnects by itself.',
} as const satisfies Record<FeedState, string>;

/** How the page is fed, and as of when, in the top bar of every page. */
export function FeedIndicator() {
  const feed = useFeed();
  const now = useNow();
  const hydrated = useHydrated();
  const asOf = `as of ${clockTime(feed.asOf, now, hydrated ? undefined : 'UTC')}`;
  const [first, ...rest] = feedWords(feed, now, asOf);
  return (
    <div className="flex min-w-0 items-center gap-2 text-[13px]" data-feed={feed.state} title={`Last read of the database: ${hydrated ? fullInstant(feed.asOf) : utcInstant(feed.asOf)}`}>
      <Dot state={feed.state} />
      <span aria-hidden className="clip" style={{ color: 'var(--ink-2)' }} suppressHydrationWarning>
        {first}<span className="max-sm:hidden" suppressHydrationWarning>{rest.map((part) => ` · ${part}`).join('')}</span>
      </span>
      <span role="status" className="visually-hidden">{SPOKEN[feed.state]}</span>
    </div>
  );
}

function Dot({ state }: { state: FeedState }) {
  const { colour, shape } = DOTS[state];
  const hollow = shape.includes('hollow');
  return <span aria-hidden className={`size-2 shrink-0 ${shape}`} style={hollow ? { border: `1.5px solid ${colour}` } : { background: colour }} />;
}
