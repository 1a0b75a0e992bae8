import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { parseItems } from '../../server/lease/queues.js';
import { renew } from '../../server/lease/renew.js';
import { settle } from '../../server/lease/settle.js';
import { actionByName, actions } from '../../server/operations/actions.js';
import { MAX_BULK, operateEach, summaryOf, type BulkAnswer } from '../../server/operations/bulk.js';
import { alice } from '../lease/world.js';
import { testDatabase } from '../support/database.js';
import { guarded } from './possible.js';
import { situations } from './situations.js';
import { ada, clearAll, openDesk, picture, registerWorkers, type Desk } from './world.js';

let desk: Desk;
let pool: pg.Pool;
beforeAll(async () => {
  const db = await testDatabase();
  pool = db.pool;
  desk = openDesk(db);
});
beforeEach(async () => {
  await clearAll(pool);
  await registerWorkers(pool);
});

const { staleItem } = situations(() => desk);
const release = actionByName('release')!;
const bulk = (targets: readonly unknown[], more: Partial<Parameters<typeof operateEach>[2]> = {}) => operateEach(desk.world, release, { actor: ada, reason: 'the rack burnt down', bulkId: uuidv7(), targets, ...more });
const stale = async (count: number) => {
  const made = [];
  for (let n = 0; n < count; n++) made.push(await staleItem());
  return made;
};

test('each target has its own answer, and what is refused for one says why and holds up none', async () => {
  const rows = await stale(9);
  for (const { id } of rows.slice(0, 2)) await renew(pool, [{ queue: 'parse_items', id, token: '1' }], 60);
  const bulkId = uuidv7();
  const told: number[] = [];
  const result = await bulk(rows.map(({ fields }) => fields), { bulkId, onAnswer: ({ index }) => told.push(index) });
  expect(result.summary).toBe('7 released, 2 refused: lease renewed');
  expect(result.counts).toEqual({ applied: 7, refused: 2, failed: 0, skipped: 0 });
  expect(result.answers.map(({ code }) => code)).toEqual(['lease_valid', 'lease_valid', ...Array<null>(7).fill(null)]);
  expect(told).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const { rows: audit } = await pool.query('select via, outcome, reason, count(*)::int as n from operator_actions where bulk_id = $1 group by 1, 2, 3 order by 2', [bulkId]);
  expect(audit).toEqual([{ via: 'bulk', outcome: 'applied', reason: 'the rack burnt down', n: 7 }, { via: 'bulk', outcome: 'refused', reason: 'the rack burnt down', n: 2 }]);
});

test('several reasons are counted, the most frequent first, and targets that cannot be read or do not exist are among them', async () => {
  const rows = await stale(3);
  await settle(pool, parseItems, alice, [{ id: rows[0]!.id, token: '1', verb: 'succeed' }]);
  const absent = () => ({ queue: 'parse-items', id: uuidv7(), token: '1' });
  const result = await bulk([...rows.map(({ fields }) => fields), absent(), absent(), { queue: 'no-such-queue', id: 'x' }]);
  expect(result.summary).toBe('2 released, 4 refused: 2 gone, 1 finished, 1 not readable');
});

test('the same call sent twice does nothing twice and has the same answers', async () => {
  const rows = await stale(3);
  const call = { bulkId: uuidv7() };
  const first = await bulk(rows.map(({ fields }) => fields), call);
  const after = await picture(pool);
  const second = await bulk(rows.map(({ fields }) => fields), call);
  expect(second).toEqual({ ...first, answers: first.answers.map((answer) => ({ ...answer, repeated: true })) });
  expect(await picture(pool)).toEqual(after);
});

test('a selection larger than one call is sent page by page under one bulk id, and its answers add up', async () => {
  const rows = await stale(5);
  const bulkId = uuidv7();
  const answers: BulkAnswer[] = [];
  for (const offset of [0, 2, 4]) answers.push(...(await bulk(rows.slice(offset, offset + 2).map(({ fields }) => fields), { bulkId, offset })).answers);
  expect(answers.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
  expect(summaryOf(release, answers)).toBe('5 released');
  expect((await pool.query('select 1 from operator_actions where bulk_id = $1', [bulkId])).rowCount).toBe(5);
});

test('it stops between two targets when it is told to, and says what it has not tried', async () => {
  const rows = await stale(4);
  const stop = new AbortController();
  const result = await bulk(rows.map(({ fields }) => fields), { signal: stop.signal, onAnswer: ({ index }) => { if (index === 1) stop.abort(); } });
  expect(result.summary).toBe('2 released, 2 not tried');
  const { rows: states } = await pool.query('select state, count(*)::int as n from parse_items group by state order by state');
  expect(states).toEqual([{ state: 'queued', n: 2 }, { state: 'running', n: 2 }]);
});

test('a target that the database fails on fails alone', async () => {
  const rows = await stale(3);
  await pool.query(`create function break_one() returns trigger language plpgsql as $$ begin if new.id = '${rows[1]!.id}' then raise exception 'a broken row'; end if; return new; end $$; create trigger break_one before update on parse_items for each row execute function break_one()`);
  const result = await bulk(rows.map(({ fields }) => fields));
  await pool.query('drop trigger break_one on parse_items; drop function break_one');
  expect(result.summary).toBe('2 released, 1 failed');
  expect(result.answers[1]).toMatchObject({ outcome: 'failed', text: expect.stringContaining('Press again') });
});

test('more targets than one call may have are refused before anything is done', async () => {
  await expect(bulk(Array<unknown>(MAX_BULK + 1).fill({}))).rejects.toThrow('At most 200 targets in one call; got 201. Send them in several.');
  expect((await pool.query('select 1 from operator_actions')).rowCount).toBe(0);
});

test('every action of the table can be counted, and every refusal of one of many is short', () => {
  const answer = (code: string | null): BulkAnswer => ({ index: 0, outcome: code ? 'refused' : 'applied', code, text: '', now: null });
  for (const action of actions.filter(({ name }) => (guarded as readonly string[]).includes(name))) {
    expect(summaryOf(action, [answer(null)])).not.toBe('1 done');
    for (const code of Object.keys(action.refusals)) expect(summaryOf(action, [answer(code)])).toMatch(/^1 refused: [a-z -]{3,30}$/);
  }
});
