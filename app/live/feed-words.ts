import type { Feed } from './feed';
import { age, duration } from '~/format/age';

/** The words, most important first: the first alone must be true on a narrow screen. `now`: database clock, ms. */
export function feedWords({ state, since, roundTripMs, pollSeconds, reconnecting, asOf }: Feed, now: number, asOfWords: string): string[] {
  if (state === 'live') return ['Live', asOfWords, ...(roundTripMs === null ? [] : [duration(roundTripMs)])];
  if (state === 'catching_up') return [reconnecting ? 'Connecting' : 'Catching up', asOfWords];
  if (state === 'polling') return [pollSeconds === null ? 'Polling' : `Polling every ${age(pollSeconds * 1000)}`, `listener lost ${age(now - since)} ago`, asOfWords];
  return ['Offline', `last read ${age(now - asOf)} ago`, 'reconnecting'];
}
