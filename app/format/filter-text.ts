import type { QueueFilters } from '../../server/console/queue-filters.js';
import { knownErrorCodes } from './error-words';

const keys = ['state', 'worker', 'version', 'user', 'session', 'error', 'older', 'newer'] as const;
type Key = (typeof keys)[number];

/**
 * What was typed into the filter box, as a URL query: `session:7f3a older:5m`. A word without a key is an error code if it is one,
 * else a session. Quotes keep a value with spaces together.
 */
export function queryOfText(text: string): URLSearchParams {
  const query = new URLSearchParams();
  for (const [, key, quoted, bare] of text.matchAll(/(?:([a-z]+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = quoted ?? bare ?? '';
    if (value === '') continue;
    if (key === undefined) query.set(knownErrorCodes.includes(value) ? 'error' : 'session', value);
    else if ((keys as readonly string[]).includes(key)) query.set(key as Key, value);
    else query.set('session', `${key}:${value}`);
  }
  return query;
}

/** What was typed, added to the filters that are already there; the list then starts at its newest page. */
export function withTyped(query: URLSearchParams, typed: string): URLSearchParams {
  const all = new URLSearchParams(query);
  for (const gone of ['q', 'before', 'after']) all.delete(gone);
  for (const [key, value] of queryOfText(typed)) all.set(key, value);
  return all;
}

export interface ActiveFilter {
  name: 'worker' | 'version' | 'user' | 'session' | 'error' | 'older' | 'newer';
  label: string;
  value: string;
}

/** The filters besides the state, as chips that can be taken away. */
export function activeFilters(filters: QueueFilters, seconds: (n: number) => string): ActiveFilter[] {
  const texts = (['worker', 'version', 'user', 'session', 'error'] as const).flatMap((name) => {
    const value = filters[name];
    return value === null ? [] : [{ name, label: name, value }];
  });
  const ages = (['older', 'newer'] as const).flatMap((name) => {
    const value = filters[name];
    return value === null ? [] : [{ name, label: `${name} than`, value: seconds(value) }];
  });
  return [...texts, ...ages];
}
