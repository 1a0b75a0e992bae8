import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nothingYet, opening, withChanges, withView, type LiveState } from '../../app/live/live-state';
import { liveRows, uncovered } from '../../app/live/use-live';
import type { RowView } from '../../server/console/row-view.js';

const topic = 'queue:parse-items';
const row = (id: string, version: number): RowView => ({ table: 'parse_items', id, version, state: 'running' }) as RowView;
const view = (asOf: number, rows: RowView[], epoch = 1) => ({ topic, epoch, asOf, data: { rows, asOf, epoch } });
const changes = (asOf: number, more: Partial<Parameters<typeof withChanges>[1]>) => ({ topic, table: 'parse_items', epoch: 1, asOf, rows: [], removed: [], entered: [], left: [], ...more });
const shown = (state: LiveState, initial: RowView[], epoch = 1) => liveRows(state, topic, initial, epoch, true);
const versions = (state: LiveState, initial: RowView[], epoch = 1) => shown(state, initial, epoch).rows.map(({ id, version }) => [id, version]);

describe('what the browser knows', () => {
  it('keeps the higher version: a slow snapshot never overwrites a newer change', () => {
    const changed = withChanges(nothingYet, changes(20, { rows: [row('a', 7)] }));
    const state = withView(changed, view(10, [row('a', 5), row('b', 1)]));
    expect(versions(state, [row('a', 4), row('b', 1)])).toEqual([['a', 7], ['b', 1]]);
  });

  it('ends in the same rows whatever the order of events, for one life of the database', () => {
    const event = fc.record({ asOf: fc.integer({ min: 1, max: 50 }), id: fc.constantFrom('a', 'b', 'c'), version: fc.integer({ min: 1, max: 50 }), kind: fc.constantFrom('view', 'rows') });
    const apply = (state: LiveState, { asOf, id, version, kind }: { asOf: number; id: string; version: number; kind: string }) =>
      kind === 'view' ? withView(state, view(asOf, [row(id, version)])) : withChanges(state, changes(asOf, { rows: [row(id, version)] }));
    const newest = (events: { id: string; version: number }[], id: string) => Math.max(0, ...events.filter((each) => each.id === id).map((each) => each.version));
    fc.assert(fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const rowsOnly = events.map((each) => ({ ...each, kind: 'rows' }));
      const state = rowsOnly.reduce(apply, nothingYet);
      const initial = ['a', 'b', 'c'].map((id) => row(id, 0));
      expect(versions(state, initial)).toEqual(['a', 'b', 'c'].map((id) => [id, newest(rowsOnly, id)]));
      const mixed = events.reduce(apply, nothingYet);
      for (const [id, version] of versions(mixed, initial)) expect(version).toBeLessThanOrEqual(newest(events, id as string));
    }));
  });

  it('is replaced whole by a new life of the database, even by lower versions', () => {
    const before = withView(nothingYet, view(10, [row('a', 9), row('b', 3)]));
    const state = withView(before, view(20, [row('a', 8)], 2));
    expect(state.epoch).toBe(2);
    expect(versions(state, [row('a', 9), row('b', 3)])).toEqual([['a', 8], ['b', 3]]);
    expect(withChanges(state, changes(15, { rows: [row('a', 99)] }))).toBe(state); // an echo of the former life
  });

  it('drops what was found gone, and brings it back only on later news', () => {
    const initial = [row('a', 1), row('b', 1)];
    const gone = withChanges(nothingYet, changes(30, { removed: ['a'] }));
    expect(shown(gone, initial)).toMatchObject({ rows: [row('b', 1)], removed: ['a'] });
    expect(shown(withView(gone, view(20, [row('a', 1)])), initial).removed).toEqual(['a']);
    expect(shown(withView(gone, view(40, [row('a', 1)])), initial).removed).toEqual([]);
  });

  it('does not take news of a row for gone that are older than the row', () => {
    const state = withChanges(withView(nothingYet, view(30, [row('a', 2)])), changes(20, { removed: ['a'] }));
    expect(shown(state, [row('a', 1)]).removed).toEqual([]);
  });

  it('keeps a later view of a topic against an earlier one', () => {
    const later = withView(nothingYet, view(20, [row('a', 2)]));
    expect(withView(later, view(10, [row('b', 1)]))).toBe(later);
  });

  it('counts as fresh what belongs on the page and is not shown, and lets go of what no longer does', () => {
    const initial = [row('a', 1)];
    let state = withView(nothingYet, view(10, [row('a', 1)]));
    state = withChanges(state, changes(20, { entered: ['b', 'c'] }));
    expect(shown(state, initial).fresh).toEqual(['b', 'c']);
    state = withChanges(state, changes(30, { left: ['b'] }));
    expect(shown(state, initial).fresh).toEqual(['c']);
    expect(shown(state, [row('a', 1), row('c', 1)]).fresh).toEqual([]);
    expect(liveRows(state, topic, initial, 1, false).fresh).toEqual([]); // not the first page
    state = withView(state, view(40, [row('d', 1), row('a', 1)]));
    expect(shown(state, initial).fresh).toEqual(['d']);
    expect(shown(withChanges(state, changes(35, { entered: ['old'] })), initial).fresh).toEqual(['d']);
  });

  it('asks by name for rows on the screen that a new stream does not bring', () => {
    const initial = [row('b', 1), row('a', 1)];
    let state = withView(nothingYet, view(10, initial));
    state = withView(withChanges(state, changes(20, { entered: ['c'] })), view(30, [row('c', 1), row('b', 1)]));
    expect(uncovered(state, topic, initial, [])).toEqual([]); // pushed off the page, but this stream has known it
    state = opening(state, new Set([topic]));
    expect(uncovered(state, topic, initial, [])).toEqual([]); // nothing is known yet
    state = withView(state, view(40, [row('d', 1), row('c', 1)]));
    expect(uncovered(state, topic, initial, [])).toEqual(['a', 'b']);
    expect(uncovered(withView(state, view(50, initial)), topic, initial, ['a', 'b'])).toEqual(['a', 'b']);
  });

  it("updates the row within its own page's view", () => {
    const page = { topic: 'row:parse-items:a', epoch: 1, asOf: 10, data: { row: row('a', 1), events: [] } };
    const state = withChanges(withView(nothingYet, page), changes(20, { topic: page.topic, rows: [row('a', 2)] }));
    expect(state.views.get(page.topic)!.data).toEqual({ row: row('a', 2), events: [] });
    expect(withView(state, { ...page, asOf: 25 }).views.get(page.topic)!.data).toEqual({ row: row('a', 2), events: [] });
  });

  it('stays small: rows are bounded, and topics that left the page are forgotten', () => {
    let state = nothingYet;
    for (let n = 0; n < 40; n += 1) state = withChanges(state, changes(n + 1, { rows: Array.from({ length: 250 }, (_, i) => row(`${n}-${i}`, 1)), entered: Array.from({ length: 250 }, (_, i) => `${n}-${i}`) }));
    expect(state.rows.size).toBe(3_000);
    expect(state.moved.get(topic)!.size).toBe(1_000);
    expect(state.covered.get(topic)!.size).toBe(1_000);
    expect(opening(state, new Set(['summary'])).moved.size).toBe(0);
  });
});
