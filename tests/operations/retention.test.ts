import { beforeAll, expect, test } from 'vitest';
import { checkInvariants } from '../../server/lease/invariants.js';
import { operate } from '../../server/operations/operate.js';
import { pruneHistory } from '../../server/operations/retention.js';
import { invariantSettings, newJob } from '../lease/world.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { ada, openDesk, picture, type Desk } from './world.js';

let database: TestDatabase;
let desk: Desk;
beforeAll(async () => {
  database = await testDatabase();
  desk = openDesk(database);
});

const prune = (batch?: number) => operate(desk.world, pruneHistory, { actor: ada, via: 'cli', fields: batch === undefined ? {} : { batch }, reason: 'the daily run' });
const count = async (table: string) => (await database.pool.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]!.n;

test('what is older than its setting is pruned batch by batch, oldest first and on record; rows, audit and what is younger stay', async () => {
  const { pool } = database;
  await newJob(pool, 4);
  await pool.query(`update queue_events set at = now() - interval '91 days' where id in (select id from queue_events order by id limit 3)`);
  await pool.query(`insert into queue_minutes select 'parse_items', now() - make_interval(days => d), 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}' from unnest(array[10, 399, 401, 500]) as d`);
  const [rows, events] = [await count('parse_items'), await count('queue_events')];
  expect(await prune(2)).toMatchObject({ outcome: 'applied', text: 'Pruned 2 transitions older than 90 days and 2 minute samples older than 400 days.' });
  expect(await prune()).toMatchObject({ outcome: 'applied', text: 'Pruned 1 transitions older than 90 days and 0 minute samples older than 400 days.' });
  expect([await count('parse_items'), await count('queue_events'), await count('queue_minutes')]).toEqual([rows, events - 3, 2]);
  await pool.query(`insert into webhook_messages (id, attention_key, event, body, created_at, sent_at, given_up_at)
    select gen_random_uuid(), 'sweeper', 'attention.began', '{}', now() - make_interval(days => d), case when d <> 95 then now() end, case when d = 95 then now() end from unnest(array[10, 95, 96]) as d
    union all select gen_random_uuid(), 'ttl', 'attention.began', '{}', now() - interval '99 days', null, null`);
  expect(await prune()).toMatchObject({ outcome: 'applied', text: 'Pruned 0 transitions older than 90 days and 0 minute samples older than 400 days, and 2 webhook messages older than 90 days.' });
  expect(await count('webhook_messages')).toBe(2);   // the younger one, and the one that waits
  const before = await picture(pool);
  expect(await prune()).toMatchObject({ outcome: 'refused', code: 'nothing_old' });
  expect(await picture(pool)).toEqual(before);
  expect((await pool.query(`select outcome, reason from operator_actions where action = 'retention' order by id`)).rows).toEqual([
    { outcome: 'applied', reason: 'the daily run' }, { outcome: 'applied', reason: 'the daily run' }, { outcome: 'applied', reason: 'the daily run' }, { outcome: 'refused', reason: 'the daily run' }]);
  expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
});
