import type { ListenerState } from '../bus/listener.js';
import type { ReadsState } from './live-reads.js';

/** How the page is fed. `polling` is not stale: it reads every few seconds; `offline` is. */
export type FeedState = 'live' | 'catching_up' | 'polling' | 'offline';

/** Instants are milliseconds since 1970 on the database clock; 0 before the first read. */
export interface FeedView {
  state: FeedState;
  /** The last successful read. */
  asOf: number;
  /** When the listener was lost (polling), the last read (offline), else when this state began. */
  since: number;
  roundTripMs: number | null;
  /** The database clock now, as this process reckons it. */
  serverNow: number;
  pollSeconds: number;
}

/** Without a successful read for longer than this (ms) the board is offline: several polls have failed by then. */
export const OFFLINE_AFTER_MS = 15_000;

export interface FeedFacts {
  listener: ListenerState;
  reads: ReadsState;
  /** A complete re-read after a gap has not ended yet. */
  catchingUp: boolean;
  /** Monotonic clock (performance.now()): now, and when reading began (nobody reads while nobody looks). */
  now: number;
  readingSince: number;
}

export function feedStateOf({ listener, reads, catchingUp, now, readingSince }: FeedFacts): FeedState {
  if (now - Math.max(reads.succeededAt, readingSince) > OFFLINE_AFTER_MS) return 'offline';
  if (!listener.up) return 'polling';
  return catchingUp || reads.failures > 0 ? 'catching_up' : 'live';
}

/** `begun`: when the present state began, on the monotonic clock. */
export function feedView(facts: FeedFacts, begun: number, pollSeconds: number): FeedView {
  const { listener, reads, now } = facts;
  const state = feedStateOf(facts);
  const since = state === 'polling' ? listener.since : state === 'offline' ? reads.succeededAt : begun;
  const onDatabaseClock = (monotonic: number) => Math.round(monotonic + reads.clockOffset);
  return {
    state,
    asOf: reads.asOf,
    since: reads.asOf === 0 ? 0 : onDatabaseClock(since),
    roundTripMs: listener.up && listener.lastRoundTripMs !== null ? Math.round(listener.lastRoundTripMs * 10) / 10 : null,
    serverNow: reads.asOf === 0 ? 0 : onDatabaseClock(now),
    pollSeconds,
  };
}
