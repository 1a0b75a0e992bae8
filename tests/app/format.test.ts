import { expect, test } from 'vitest';
import { age, duration, remaining } from '~/format/age';
import { bytes } from '~/format/bytes';
import { capitalised, count, counted, listed } from '~/format/count';
import { clockTime, fullInstant, utcInstant } from '~/format/instant';

const S = 1_000, M = 60 * S, H = 60 * M, D = 24 * H;

test.each([
  [0, '0 s'], [-5, '0 s'], [999, '0 s'], [41 * S, '41 s'], [59.9 * S, '59 s'], [M, '1 m'], [2 * M + 12 * S, '2 m 12 s'], [H, '1 h'],
  [3 * H + 5 * M + 59 * S, '3 h 5 m'], [3 * D + 4 * H, '3 d 4 h'], [400 * D, '400 d'],
])('an age of %d ms reads %s', (ms, words) => expect(age(ms)).toBe(words));

test.each([[84 * S, '1 m 24 s'], [500, '0 s'], [-1, '\u22120 s'], [-42 * S, '\u221242 s'], [-132 * S, '\u22122 m 12 s']])('%d ms left on a lease read %s', (ms, words) => {
  expect(remaining(ms)).toBe(words);
});

test.each([
  [0, '< 1 ms'], [0.4, '< 1 ms'], [280.4, '280 ms'], [999.4, '999 ms'], [1_200, '1.2 s'], [9_940, '9.9 s'], [9_960, '10 s'], [41_300, '41 s'], [91_000, '1 m 31 s'],
])('a duration of %d ms reads %s', (ms, words) => expect(duration(ms)).toBe(words));

test.each([[0, '0 bytes'], [1, '1 byte'], [812, '812 bytes'], [999, '999 bytes'], [1_000, '1.0 kB'], [1_249_000, '1.2 MB'], [120_000_000, '120 MB'], [52_428_800, '52 MB'], [999_600, '1.0 MB']])(
  '%d bytes read %s', (n, words) => expect(bytes(n)).toBe(words));

test('counts are grouped, and capped where the server stops counting', () => {
  expect([0, 1_204, 10_000, 10_001].map(count)).toEqual(['0', '1,204', '10,000', '10,000+']);
  expect([counted(1, 'lease'), counted(2, 'lease'), counted(2, 'process', 'processes')]).toEqual(['1 lease', '2 leases', '2 processes']);
});

test('words are listed and capitalised as a sentence needs them', () => {
  expect([listed([]), listed(['a']), listed(['a', 'b']), listed(['a', 'b', 'c'])]).toEqual(['', 'a', 'a and b', 'a, b and c']);
  expect(capitalised('one lease is stale')).toBe('One lease is stale');
});

test('an instant is shown in the viewer\'s zone and in UTC, once when they are the same', () => {
  const at = Date.UTC(2026, 10, 30, 16, 42, 20);
  expect(fullInstant(at, 'Europe/Berlin')).toBe('30 Nov 2026, 17:42:20 CET · 30 Nov 2026, 16:42:20 UTC');
  expect(fullInstant(at, 'UTC')).toBe('30 Nov 2026, 16:42:20 UTC');
  expect(utcInstant(at)).toBe('30 Nov 2026, 16:42:20 UTC');
});

test('a clock time names its day only when that is not today', () => {
  const at = Date.UTC(2026, 10, 30, 23, 59, 1);
  expect(clockTime(at, at + 30_000, 'UTC')).toBe('23:59:01');
  expect(clockTime(at, at + 120_000, 'UTC')).toBe('30 Nov, 23:59:01');
});
