import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createRowHints } from '../../server/bus/row-hints.js';
import { decode, MAX_HINTED_IDS, type RowsMessage } from '../../server/bus/topics.js';
import { createLogger } from '../../server/log.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

const log = createLogger({ level: 'silent', name: 'test' });
const rowsChannel = 'test_rows';
let db: TestDatabase;
let client: pg.Client;
let heard: RowsMessage[];
let sends: number[];

beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.url });
  client.on('notification', ({ payload }) => heard.push(decode('rows', payload)!));
  await client.connect();
  await client.query(`listen ${rowsChannel}`);
});
beforeEach(() => {
  heard = [];
  sends = [];
});
afterAll(() => client.end());

const settled = () => client.query('select 1');
const idsOf = (table: string) => heard.flatMap((message) => ('ids' in message && message.t === table ? message.ids : []));

const hints = (sendIntervalMs?: number) =>
  createRowHints({
    rowsChannel,
    log,
    sendIntervalMs,
    send: (sql, params) => {
      sends.push(performance.now());
      return db.pool.query(sql, params);
    },
  });

it('sends the first change at once and the following ones together', async () => {
  const one = hints(60_000);
  one.changed('parse_items', ['a']);
  await vi.waitUntil(() => sends.length === 1, { timeout: 10_000, interval: 1 }); // it does not wait for the interval
  for (let n = 0; n < 50; n += 1) one.changed('parse_items', [`b${n % 10}`]);
  one.changed('parse_jobs', ['c']);
  await one.flush();
  await settled();
  expect(sends).toHaveLength(2);
  expect(idsOf('parse_items').sort()).toEqual(['a', ...Array.from({ length: 10 }, (_, n) => `b${n}`)]);
  expect(idsOf('parse_jobs')).toEqual(['c']);
});

it('sends at most ten times a second, whatever the rate of change, and loses no id', async () => {
  const one = hints();
  const ids: string[] = [];
  const start = performance.now();
  while (performance.now() - start < 1_000) {
    const id = `id-${ids.length}`;
    ids.push(id);
    one.changed('parse_items', [id]);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await one.flush();
  await settled();
  expect(sends.length).toBeLessThanOrEqual(12); // ten, the leading edge, the flush
  expect(sends.length).toBeGreaterThan(1);
  for (let n = 1; n < sends.length - 1; n += 1) expect(sends[n]! - sends[n - 1]!).toBeGreaterThan(95);
  expect(idsOf('parse_items')).toEqual(ids);
});

it('cuts long lists by bytes and asks for a re-read beyond a thousand ids', async () => {
  const one = hints();
  const ids = Array.from({ length: MAX_HINTED_IDS }, (_, n) => `${'ß'.repeat(36)}${n}`);
  one.changed('parse_items', ids);
  one.changed('parse_jobs', Array.from({ length: MAX_HINTED_IDS + 1 }, (_, n) => String(n)));
  await one.flush();
  await settled();
  expect(idsOf('parse_items')).toEqual(ids);
  expect(heard.filter((message) => 't' in message && message.t === 'parse_jobs')).toEqual([{ t: 'parse_jobs', reread: true }]);
  expect(sends).toHaveLength(1);
});

it('sends one hint a beat, which names the worker', async () => {
  const one = hints();
  one.beat('w-1');
  one.beat('w-1');
  await one.flush();
  await settled();
  expect(heard).toEqual([{ w: 'w-1' }]);
});

it('loses hints that cannot be sent, counts them, and goes on with the next', async () => {
  let broken = true;
  const one = createRowHints({
    rowsChannel,
    log,
    send: (sql, params) => (broken ? Promise.reject(new Error('away')) : db.pool.query(sql, params)),
  });
  one.changed('parse_items', ['lost']);
  await one.flush();
  broken = false;
  one.changed('parse_items', ['sent']);
  await one.flush();
  await settled();
  expect(heard).toEqual([{ t: 'parse_items', ids: ['sent'] }]);
  expect(one.state()).toEqual({ sends: 2, failedSends: 1 });
});

it('has never more than one send under way, and what changes meanwhile goes with the next', async () => {
  let release = () => {};
  let running = 0;
  let most = 0;
  const payloads: string[] = [];
  const one = createRowHints({
    rowsChannel,
    log,
    sendIntervalMs: 5,
    send: async (_, params) => {
      most = Math.max(most, (running += 1));
      payloads.push(...(params[1] as string[]));
      await new Promise<void>((resolve) => (release = resolve));
      running -= 1;
    },
  });
  one.changed('parse_items', ['a']);
  await vi.waitUntil(() => running === 1, { timeout: 10_000, interval: 1 });
  one.changed('parse_items', ['b']);
  one.changed('parse_items', ['c']);
  const flushed = one.flush();
  release();
  await vi.waitUntil(() => payloads.length === 2, { timeout: 10_000, interval: 1 });
  release();
  await flushed;
  expect(most).toBe(1);
  expect(payloads.map((payload) => decode('rows', payload))).toEqual([
    { t: 'parse_items', ids: ['a'] },
    { t: 'parse_items', ids: ['b', 'c'] },
  ]);
});
