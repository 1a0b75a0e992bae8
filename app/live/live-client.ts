/** The live end of one tab: state, clock and feed, for the hooks in use-live.ts. Connects when the first topic is mounted in a browser. */
import { createConnection, type Connection } from './connection';
import { createDatabaseClock } from './database-clock';
import type { LiveEvent } from './events';
import { feedOf, feedStateOf, type Feed, type FeedFacts } from './feed';
import { nothingYet, opening, withChanges, withView, type LiveState } from './live-state';

export interface LiveClient {
  state(): LiveState;
  feed(): Feed;
  now(): number;
  /** The page's loaders have read the database at `asOf`. */
  loaded(asOf: number): void;
  /** This topic is on the page; call what is returned when it no longer is. */
  mount(topic: string): () => void;
  onState(fn: () => void): () => void;
  onFeed(fn: () => void): () => void;
  /** Browser only. */
  start(): () => void;
}

export function createLiveClient(startAt: number, onSignedOut: () => void): LiveClient {
  const clock = createDatabaseClock(startAt);
  const mounted = new Map<string, number>();
  const stateUsers = new Set<() => void>();
  const feedUsers = new Set<() => void>();
  let connection: Connection | undefined;
  let state = nothingYet;
  let said: FeedFacts['said'] = null;
  let asOf = startAt;
  let awaited: ReadonlySet<string> = new Set();
  let begun = startAt;
  let visibleSince = performance.now();
  let feed = feedOf(facts(), clock.now);

  function facts(): FeedFacts {
    return {
      said, asOf, begun,
      open: connection?.open() ?? false,
      complete: awaited.size === 0,
      silentMs: connection?.silentMs() ?? 0,
      visibleMs: performance.now() - visibleSince,
      now: clock.now(),
    };
  }

  function refreshFeed(): void {
    if (said && awaited.size === 0) asOf = Math.max(asOf, said.asOf);
    const before = facts();
    if (feedStateOf(before) !== feed.state) begun = before.now;
    const next = feedOf(facts(), clock.now);
    if (same(next, feed)) return;
    feed = next;
    for (const fn of feedUsers) fn();
  }

  function setState(next: LiveState): void {
    if (next === state) return;
    state = next;
    for (const fn of stateUsers) fn();
  }

  function hear(event: LiveEvent): void {
    if (event.event === 'bye') return;
    if (event.event === 'feed') {
      said = event.data;
      if (said.serverNow > 0) clock.hear(said.serverNow);
    } else if (event.event === 'rows') setState(withChanges(state, event.data));
    else {
      setState(withView(state, event.data));
      awaited = without(awaited, event.data.topic);
    }
    refreshFeed();
  }

  function onVisible(): void {
    if (!document.hidden) visibleSince = performance.now();
  }

  return {
    state: () => state,
    feed: () => feed,
    now: clock.now,
    loaded(at) {
      asOf = Math.max(asOf, at);
      refreshFeed();
    },
    mount(topic) {
      mounted.set(topic, (mounted.get(topic) ?? 0) + 1);
      connection?.setTopics(new Set(mounted.keys()));
      return () => {
        const left = (mounted.get(topic) ?? 1) - 1;
        if (left > 0) mounted.set(topic, left);
        else mounted.delete(topic);
        connection?.setTopics(new Set(mounted.keys()));
      };
    },
    onState: (fn) => join(stateUsers, fn),
    onFeed: (fn) => join(feedUsers, fn),
    start() {
      connection = createConnection({
        event: hear,
        opening(topics) {
          awaited = topics;
          setState(opening(state, topics));
        },
        changed: refreshFeed,
        signedOut: onSignedOut,
      });
      connection.setTopics(new Set(mounted.keys()));
      document.addEventListener('visibilitychange', onVisible);
      const timer = window.setInterval(refreshFeed, 1_000);
      return () => {
        window.clearInterval(timer);
        document.removeEventListener('visibilitychange', onVisible);
        connection?.close();
        connection = undefined;
      };
    },
  };
}

function join(set: Set<() => void>, fn: () => void): () => void {
  set.add(fn);
  return () => void set.delete(fn);
}

function without(set: ReadonlySet<string>, member: string): ReadonlySet<string> {
  return set.has(member) ? new Set([...set].filter((each) => each !== member)) : set;
}

function same(a: Feed, b: Feed): boolean {
  return (Object.keys(a) as (keyof Feed)[]).every((key) => a[key] === b[key]);
}
