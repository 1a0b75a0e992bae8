import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queryOfText } from '~/format/filter-text';
import { filterQuery, isFiltered, noFilters, queuePath, shortSeconds, toggledState, withFilter } from '~/format/filters';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import { FILTER_STATES, parseQueueFilters } from '../../server/console/queue-filters.js';

const parse = (query: string) => parseQueueFilters(new URLSearchParams(query));

const value = fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((text) => text.trim() === text && text.isWellFormed() && !text.includes('\0')));
const id = fc.option(fc.uuid());

const filters: fc.Arbitrary<QueueFilters> = fc.record({
  states: fc.subarray([...FILTER_STATES]), worker: value, version: value, user: value, session: value, error: value,
  older: fc.option(fc.integer({ min: 1, max: 9_999_999 })), newer: fc.option(fc.integer({ min: 1, max: 9_999_999 })),
  before: id, after: id,
}).map((made) => ({ ...made, after: made.before === null ? made.after : null }));

test('filters survive the URL: what is built is read back the same', () => {
  fc.assert(fc.property(filters, (made) => {
    expect(parse(filterQuery(made))).toEqual(made);
  }));
});

test('any query gives a page: nonsense is left out, and what is read is built back the same', () => {
  fc.assert(fc.property(fc.webQueryParameters(), (query) => {
    const read = parse(query);
    expect(parse(filterQuery(read))).toEqual(read);
  }));
  expect(parse('state=running,nonsense&older=soon&before=1;drop&user=%20&newer=0&worker=%00')).toEqual({ ...noFilters, states: ['running'] });
});

test('a URL reads like what it means', () => {
  expect(queuePath('parse-items')).toBe('/queues/parse-items');
  expect(queuePath('parse-items', { states: ['stale', 'queued'], session: '7f3a', older: 300 })).toBe('/queues/parse-items?state=stale,queued&session=7f3a&older=5m');
  expect([1, 90, 300, 3_600, 86_400, 90_000].map(shortSeconds)).toEqual(['1s', '90s', '5m', '1h', '1d', '25h']);
});

test('a changed filter starts at the newest page again, and a state can be switched on and off', () => {
  const deep = { ...noFilters, before: '01a22d66-f34f-7d36-83ed-0a14815d92f9' };
  expect(isFiltered(deep)).toBe(false);
  expect(withFilter(deep, { user: 'u' })).toEqual({ ...noFilters, user: 'u' });
  expect(toggledState(toggledState(deep, 'stale'), 'stale')).toEqual(noFilters);
});

test.each([
  ['7f3a', 'session=7f3a'], ['took_too_long', 'error=took_too_long'], ['user:u-1 older:5m', 'user=u-1&older=5m'],
  ['session:"two words" state:stale', 'session=two+words&state=stale'], ['weird:thing', 'session=weird%3Athing'], ['   ', ''],
])('typing %s into the filter box asks for ?%s', (typed, query) => expect(queryOfText(typed).toString()).toBe(query));
