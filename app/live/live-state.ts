/**
 * What this browser knows, and how each event changes it. Pure. A row's higher version wins, so that a slow snapshot never overwrites a
 * newer change; a view's later moment wins; another epoch (the database server was restarted) replaces everything, whatever the versions.
 */
import type { RowView } from '../../server/console/row-view.js';
import type { RowsEvent, ViewEvent } from './events';

export interface LiveView {
  asOf: number;
  epoch: number;
  data: unknown;
  /** Ids of the rows it lists (queue topics). */
  listed: readonly string[];
}

export interface LiveState {
  /** 0 until the first event. */
  epoch: number;
  asOf: number;
  views: ReadonlyMap<string, LiveView>;
  /** By "table/id". */
  rows: ReadonlyMap<string, { row: RowView; asOf: number }>;
  /** "table/id" → when it was found to be gone. */
  gone: ReadonlyMap<string, number>;
  /** Topic → id → whether it belongs on the page now; what has changed since the topic's last view. */
  moved: ReadonlyMap<string, ReadonlyMap<string, boolean>>;
  /** Topic → ids whose changes the present stream brings; absent until its snapshot has come. */
  covered: ReadonlyMap<string, ReadonlySet<string>>;
}

export const nothingYet: LiveState = { epoch: 0, asOf: 0, views: new Map(), rows: new Map(), gone: new Map(), moved: new Map(), covered: new Map() };

/** Enough for several pages; the longest unchanged rows are forgotten first. */
const MAX_ROWS = 3_000;
const MAX_MOVED = 1_000;
/** As many as the server remembers (live-topic-board.ts). */
const MAX_COVERED = 1_000;

export const keyOf = (table: string, id: string) => `${table}/${id}`;

export function withView(before: LiveState, event: ViewEvent): LiveState {
  const state = inEpoch(before, event);
  if (!state) return before;
  const known = state.views.get(event.topic);
  if (known && known.asOf > event.asOf) return before;
  const listed = rowsIn(event.data);
  const rows = withRows(state, listed, event.asOf);
  const view: LiveView = { asOf: event.asOf, epoch: event.epoch, data: newestRow(event.data, rows), listed: listed.map((row) => row.id) };
  return {
    ...state,
    asOf: Math.max(state.asOf, event.asOf),
    views: put(state.views, event.topic, view),
    moved: put(state.moved, event.topic, new Map()),
    covered: withCovered(state, event.topic, view.listed),
    ...rows,
  };
}

export function withChanges(before: LiveState, event: RowsEvent): LiveState {
  const state = inEpoch(before, event);
  if (!state) return before;
  const rows = withRows(state, event.rows, event.asOf);
  const gone = new Map(rows.gone);
  const kept = new Map(rows.rows);
  for (const id of event.removed) {
    const key = keyOf(event.table, id);
    if ((kept.get(key)?.asOf ?? 0) > event.asOf) continue;
    kept.delete(key);
    gone.set(key, event.asOf);
  }
  const next = { ...state, asOf: Math.max(state.asOf, event.asOf), rows: bounded(kept, MAX_ROWS), gone: bounded(gone, MAX_ROWS) };
  return { ...next, views: withNewestRow(next, event.topic), moved: withMoves(next, event), covered: withCovered(next, event.topic, event.entered) };
}

/** A new stream begins, for these topics: what only others needed is forgotten, and so is which rows the last one brought. */
export function opening(state: LiveState, topics: ReadonlySet<string>): LiveState {
  const keep = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([topic]) => topics.has(topic)));
  return { ...state, views: keep(state.views), moved: keep(state.moved), covered: new Map() };
}

/** The state to change: as it is, emptied for a new life of the database, or null when the event is older than that life. */
function inEpoch(state: LiveState, { epoch, asOf }: { epoch: number; asOf: number }): LiveState | null {
  if (state.epoch === epoch) return state;
  if (asOf < state.asOf) return null;
  return { ...nothingYet, epoch, asOf };
}

/** A row of equal or lower version changes nothing; one that was found gone comes back only with later news. */
function withRows(state: LiveState, incoming: readonly RowView[], asOf: number): Pick<LiveState, 'rows' | 'gone'> {
  if (incoming.length === 0) return { rows: state.rows, gone: state.gone };
  const rows = new Map(state.rows);
  const gone = new Map(state.gone);
  for (const row of incoming) {
    const key = keyOf(row.table, row.id);
    const known = rows.get(key);
    if ((gone.get(key) ?? 0) >= asOf || (known && known.row.version > row.version)) continue;
    gone.delete(key);
    rows.delete(key);
    rows.set(key, known && known.row.version === row.version ? { row: known.row, asOf: Math.max(known.asOf, asOf) } : { row, asOf });
  }
  return { rows: bounded(rows, MAX_ROWS), gone };
}

function withCovered(state: LiveState, topic: string, ids: readonly string[]): LiveState['covered'] {
  const known = state.covered.get(topic);
  if (known && ids.every((id) => known.has(id))) return state.covered;
  const covered = new Set(known);
  for (const id of ids) covered.delete(id); // to the end: the longest unseen is forgotten first
  for (const id of ids) covered.add(id);
  return put(state.covered, topic, bounded(covered, MAX_COVERED));
}

function withMoves(state: LiveState, event: RowsEvent): LiveState['moved'] {
  if ((state.views.get(event.topic)?.asOf ?? 0) > event.asOf) return state.moved;
  const moves = new Map(state.moved.get(event.topic));
  for (const id of event.entered) moves.set(id, true);
  for (const id of [...event.left, ...event.removed]) moves.set(id, false);
  return put(state.moved, event.topic, bounded(moves, MAX_MOVED));
}

/** A row's page is a view with that row in it: a change of the row shows there at once, before the page is read again. */
function withNewestRow(state: LiveState, topic: string): LiveState['views'] {
  const view = state.views.get(topic);
  const data = view && newestRow(view.data, state);
  return view && data !== view.data ? put(state.views, topic, { ...view, data }) : state.views;
}

function newestRow(data: unknown, { rows }: Pick<LiveState, 'rows'>): unknown {
  const row = rowOf(data);
  const newest = row && rows.get(keyOf(row.table, row.id))?.row;
  return newest && newest.version > row.version ? { ...(data as object), row: newest } : data;
}

function rowOf(data: unknown): RowView | undefined {
  return (data as { row?: RowView } | null)?.row;
}

/** The rows that a view of a queue's page, of a list of rows, or of one row's page is about. */
function rowsIn(data: unknown): readonly RowView[] {
  const row = rowOf(data);
  return row ? [row] : ((data as { rows?: RowView[] } | null)?.rows ?? []);
}

function put<T>(map: ReadonlyMap<string, T>, key: string, value: T): ReadonlyMap<string, T> {
  return new Map(map).set(key, value);
}

function bounded<T extends Map<string, unknown> | Set<string>>(map: T, size: number): T {
  for (const key of map.keys()) {
    if (map.size <= size) break;
    map.delete(key);
  }
  return map;
}
