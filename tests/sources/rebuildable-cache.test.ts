import { expect, test, vi } from 'vitest';
import { RebuildableCache } from '../../server/sources/rebuildable-cache.js';
import { until } from '../support/until.js';

const cacheOf = (options: { ttlSeconds?: number; maxWeight?: number } = {}) => new RebuildableCache<string>({ ttlSeconds: 60, maxWeight: 10, weigh: (value) => value.length, ...options });

test('one build serves all who ask at once, and those who ask later', async () => {
  const cache = cacheOf();
  const build = vi.fn(() => Promise.resolve('abc'));
  expect(await Promise.all([cache.of('k', '1', build), cache.of('k', '1', build)])).toEqual(['abc', 'abc']);
  await cache.of('k', '1', build);
  expect(build).toHaveBeenCalledTimes(1);
});

test('another version is built anew and replaces the old one', async () => {
  const cache = cacheOf();
  await cache.of('k', '1', () => Promise.resolve('old'));
  expect(await cache.of('k', '2', () => Promise.resolve('new'))).toBe('new');
  expect(cache.size).toBe(1);
});

test('a build that failed is forgotten', async () => {
  const cache = cacheOf();
  await expect(cache.of('k', '1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await until(() => cache.size === 0);
  expect(await cache.of('k', '1', () => Promise.resolve('yes'))).toBe('yes');
});

test('what was dropped while it was made is answered and not kept', async () => {
  const cache = cacheOf();
  let finish = (_: string) => {};
  const waiting = cache.of('k', '1', () => new Promise((resolve) => { finish = resolve; }));
  cache.clear();
  finish('late');
  expect(await waiting).toBe('late');
  expect(cache.size).toBe(0);
});

test('the longest unused goes first when it gets too heavy; what is too heavy alone is answered and not kept', async () => {
  const cache = cacheOf();
  const put = (key: string, value: string) => cache.of(key, '1', () => Promise.resolve(value));
  await put('a', 'aaaa');
  await put('b', 'bbbb');
  await put('a', 'unused');
  await put('c', 'cccc');
  expect(await put('a', 'again')).toBe('aaaa');
  expect(await put('b', 'bb')).toBe('bb');
  expect(await put('d', 'd'.repeat(11))).toHaveLength(11);
  expect(await put('b', 'again')).toBe('bb');
});

test('a value goes when its time is over', async () => {
  const cache = cacheOf({ ttlSeconds: 0.02 });
  await cache.of('k', '1', () => Promise.resolve('abc'));
  await until(() => cache.size === 0);
});
