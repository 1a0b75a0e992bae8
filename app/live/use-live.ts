/**
 * The browser's end of the live connection. A page renders what its loader read; these hooks replace it by what the stream brings, never by
 * anything older. On the server, and while hydrating, they answer with the loader's data and the loader's clock.
 */
import { createContext, createElement, useContext, useEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import type { RowView, Stamp } from '../../server/console/row-view.js';
import type { Feed } from './feed';
import { createLiveClient, type LiveClient } from './live-client';
import { keyOf, nothingYet, type LiveState } from './live-state';
import { createTicker, type Ticker } from './ticker';

export type { Feed } from './feed';

interface Live {
  client: LiveClient;
  ticker: Ticker;
  startAt: number;
}

const LiveContext = createContext<Live | null>(null);

/** Around the console's pages. `asOf`: when its loader read the database (database clock, ms). */
export function LiveProvider({ asOf, children }: { asOf: number; children: ReactNode }) {
  const [live] = useState<Live>(() => {
    const client = createLiveClient(asOf, signedOut);
    return { client, ticker: createTicker(client.now), startAt: asOf };
  });
  useEffect(() => live.client.start(), [live]);
  useEffect(() => live.client.loaded(asOf), [live, asOf]);
  return createElement(LiveContext.Provider, { value: live }, children);
}

/** The session has ended: what is on the screen is no longer for these eyes. The door answers with the sign-in page. */
function signedOut(): void {
  window.location.reload();
}

function useContextValue(): Live {
  const live = useContext(LiveContext);
  if (!live) throw new Error('Expected a LiveProvider above this component, found none.');
  return live;
}

/** How the page is fed, and as of when. Re-renders when it changes, not with every tick. */
export function useFeed(): Feed {
  const { client, startAt } = useContextValue();
  const [atFirst] = useState<Feed>(() => ({ state: 'catching_up', asOf: startAt, since: startAt, roundTripMs: null, stale: false, reconnecting: true, pollSeconds: null, now: () => startAt }));
  return useSyncExternalStore(client.onFeed, client.feed, () => atFirst);
}

/** The database clock (ms since 1970), ticking. Never the browser's own date. */
export function useNow(intervalMs = 1_000): number {
  const { ticker, startAt } = useContextValue();
  const subscribe = useMemo(() => (fn: () => void) => ticker.subscribe(intervalMs, fn), [ticker, intervalMs]);
  return useSyncExternalStore(subscribe, () => ticker.value(intervalMs), () => startAt);
}

/** `initial` (from the loader) or what the stream brought since, whichever was read later. A view that is gone stays as it was last seen. */
export function useLiveView<T extends Stamp>(topic: string, initial: T): T {
  const view = useTopic(topic).views.get(topic);
  return view && view.data !== null && view.asOf >= initial.asOf ? (view.data as T) : initial;
}

export interface LiveRows {
  /** The loader's rows, each as last heard of; those that are gone left out. Their order never changes. */
  rows: RowView[];
  /** Ids that belong on this page now and are not shown: behind the "n new" pill. Empty on later pages. */
  fresh: string[];
  removed: string[];
}

/** The rows of a queue page, updated in place. */
export function useLiveRows(topic: string, initial: RowView[], filters: Pick<QueueFilters, 'before' | 'after'>): LiveRows {
  const state = useTopic(topic);
  useUncovered(state, topic, initial);
  const firstPage = !filters.before && !filters.after;
  const [loaded, setLoaded] = useState({ initial, epoch: state.epoch });
  if (loaded.initial !== initial) setLoaded({ initial, epoch: state.epoch });
  else if (loaded.epoch === 0 && state.epoch !== 0) setLoaded({ initial, epoch: state.epoch });
  return useMemo(() => liveRows(state, topic, initial, loaded.epoch, firstPage), [state, topic, initial, loaded.epoch, firstPage]);
}

/**
 * Someone reads on while new rows push those on the screen off the page. A stream that was opened since does not know of these: they are
 * asked for by name. Only ever more of them for one list, so that the stream is not reopened back and forth.
 */
function useUncovered(state: LiveState, topic: string, initial: readonly RowView[]): void {
  const [asked, setAsked] = useState<{ initial: readonly RowView[]; ids: string[] }>({ initial, ids: [] });
  const ids = uncovered(state, topic, initial, asked.initial === initial ? asked.ids : []);
  if (asked.initial !== initial || ids.length !== asked.ids.length) setAsked({ initial, ids });
  const slug = /^queue:([a-z-]+)/.exec(topic)?.[1];
  useTopic(ids.length > 0 ? `rows:${slug}:${ids.join(',')}` : null);
}

/** Exported for its test. */
export function uncovered(state: LiveState, topic: string, initial: readonly RowView[], asked: readonly string[]): string[] {
  const covered = state.covered.get(topic);
  const missing = covered ? initial.map((row) => row.id).filter((id) => !covered.has(id)) : [];
  return [...new Set([...asked, ...missing])].sort();
}

function useTopic(topic: string | null): LiveState {
  const { client } = useContextValue();
  useEffect(() => (topic === null ? undefined : client.mount(topic)), [client, topic]);
  return useSyncExternalStore(client.onState, client.state, () => nothingYet);
}

/** Exported for its test. `epoch`: the life of the database in which `initial` was read, 0 if not known. */
export function liveRows(state: LiveState, topic: string, initial: readonly RowView[], epoch: number, firstPage: boolean): LiveRows {
  const restarted = epoch !== 0 && state.epoch !== epoch;
  const isGone = (row: RowView) => state.gone.has(keyOf(row.table, row.id));
  const newest = (row: RowView) => {
    const known = state.rows.get(keyOf(row.table, row.id))?.row;
    return known && (restarted || known.version > row.version) ? known : row;
  };
  const shown = new Set(initial.map((row) => row.id));
  return {
    rows: initial.filter((row) => !isGone(row)).map(newest),
    fresh: firstPage ? belonging(state, topic).filter((id) => !shown.has(id)) : [],
    removed: initial.filter(isGone).map((row) => row.id),
  };
}

function belonging(state: LiveState, topic: string): string[] {
  const ids = new Set(state.views.get(topic)?.listed);
  for (const [id, belongs] of state.moved.get(topic) ?? []) {
    if (belongs) ids.add(id);
    else ids.delete(id);
  }
  return [...ids];
}
