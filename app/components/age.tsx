import { Fragment } from 'react';
import { age } from '~/format/age';
import { fullInstant, utcInstant } from '~/format/instant';
import { useHydrated } from '~/hydrated';
import { useNow } from '~/live/use-live';

/** How long ago (or until) an instant is, ticking on the database clock; the instant itself, in the viewer's zone and in UTC, on hover. */
export function Age({ at, suffix = '', prefix = '' }: { at: number; prefix?: string; suffix?: string }) {
  const now = useNow();
  const hydrated = useHydrated();
  return (
    <time dateTime={new Date(at).toISOString()} title={hydrated ? fullInstant(at) : utcInstant(at)} suppressHydrationWarning>
      {prefix}{age(Math.abs(now - at))}{suffix}
    </time>
  );
}

/** The instant in words, for places where there is room for both. A line may end between the zones, never within one. */
export function Instant({ at }: { at: number }) {
  const hydrated = useHydrated();
  const zones = (hydrated ? fullInstant(at) : utcInstant(at)).split(' · ');
  return <time dateTime={new Date(at).toISOString()} title={utcInstant(at)}>{zones.map((zone, n) => <Fragment key={zone}>{n > 0 ? ' · ' : null}<span className="whitespace-nowrap">{zone}</span></Fragment>)}</time>;
}
