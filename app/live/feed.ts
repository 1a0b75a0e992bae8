import type { FeedState, FeedView } from '../../server/console/live-feed.js';

/** How fresh the page is, as far as this browser can know. Instants: milliseconds since 1970, database clock. */
export interface Feed {
  state: FeedState;
  /** The last successful read behind what is on the page. */
  asOf: number;
  /** When this state began (polling: when the listener was lost). */
  since: number;
  roundTripMs: number | null;
  /** Nothing was read for 15 s: what is shown may no longer be so. */
  stale: boolean;
  /** The stream is not open at the moment, or silent. */
  reconnecting: boolean;
  pollSeconds: number | null;
  /** The database clock now. */
  now: () => number;
}

export interface FeedFacts {
  /** The server's last word on it, null before the first. */
  said: FeedView | null;
  /** The last successful read that the page as a whole rests on. */
  asOf: number;
  /** The stream is open, and every topic's snapshot has come. */
  open: boolean;
  complete: boolean;
  /** How long nothing at all has come (ms), and how long the page has been visible. */
  silentMs: number;
  visibleMs: number;
  now: number;
  /** When the present state was entered (database clock). */
  begun: number;
}

/** Longer than this (ms) without a read, and the page says that it is stale; protocol: polling is not stale, silence is. */
export const STALE_AFTER_MS = 15_000;
/** The server speaks every two seconds: after more than two missed words (ms) the page no longer calls itself live. */
const QUIET_MS = 5_000;
/** A tab that comes back is read again at once: it is not called stale before that had a chance (ms). */
const RETURN_MS = 1_500;

/** The server may say that all is well long after its stream has gone silent: silence counts for more than its last word. */
export function feedStateOf({ said, asOf, open, complete, silentMs, visibleMs, now }: FeedFacts): FeedState {
  const unread = now - asOf > STALE_AFTER_MS && visibleMs > STALE_AFTER_MS;
  if (silentMs > STALE_AFTER_MS || unread) return 'offline';
  if (!said || !open || silentMs > QUIET_MS) return 'catching_up';
  return said.state === 'offline' || complete ? said.state : 'catching_up';
}

export function feedOf(facts: FeedFacts, now: () => number): Feed {
  const { said, asOf, open, silentMs, visibleMs } = facts;
  const state = feedStateOf(facts);
  return {
    state,
    asOf,
    since: state === 'polling' && said ? said.since : facts.begun,
    roundTripMs: said?.roundTripMs ?? null,
    stale: facts.now - asOf > STALE_AFTER_MS && visibleMs > RETURN_MS,
    reconnecting: !open || silentMs > QUIET_MS,
    pollSeconds: said?.pollSeconds ?? null,
    now,
  };
}
