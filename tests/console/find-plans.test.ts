import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { fillQueues } from '../../bench/find-rows.js';
import { recogniseForms } from '../../server/console/find-forms.js';
import { endedByName, openByName } from '../../server/console/find-names.js';
import * as queries from '../../server/console/find-queries.js';
import { createKysely } from '../../server/db/kysely.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
let itemBlocks: number;
let item: string;
let upload: string;

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
  await fillQueues(database.pool, 60_000);
  const read = async (text: string) => Object.values((await database.pool.query<Record<string, string>>(text)).rows[0]!)[0]!;
  itemBlocks = Number(await read(`select pg_relation_size('parse_items') / 8192`));
  item = await read('select id from parse_items order by id offset 9000 limit 1');
  upload = await read('select id from parse_jobs order by id offset 2000 limit 1');
}, 240_000);

const forms: [string, () => RawBuilder<unknown>, number][] = [
  ['a whole id', () => queries.rowsByRange([item, item]), 1],
  ['the start of an id', () => queries.rowsByRange(recogniseForms(item.slice(0, 18)).id.range!), 1],
  ['the end of an id', () => queries.rowsByTail(upload.slice(-8)), 1],
  ['the id of a document', () => queries.documentsByRange([item, item]), 0],
  ['an address', () => queries.sessionsOfAddress('kunde.3@uni-7.example'), 1],
  ['the start of an address', () => queries.addressesFrom('kunde.3'), 1],
  ['the start of all addresses', () => queries.addressesFrom('kunde'), 9],
  ['a user', () => queries.sessionsOfUser('u-3'), 4],
  ['a session', () => queries.sessionsById('s-12'), 1],
  ['the start of a slug', () => queries.deploymentsBy('app-a', 'app-a'), 9],
  ['a project', () => queries.deploymentsBy('proj-', null), 9],
  ['a process', () => queries.workersBy('worker-3'), 9],
  ['a rare part of a name', () => endedByName(['(7001)'], 'part'), 1],
  ['a common part of a name that nothing has', () => endedByName(['müller_1990_nowhere'], 'part'), 0],
  ['an open file', () => openByName(['no such file']), 0],
];

test.each(forms)('%s is looked for in a small part of a long history, and its limit keeps it so', async (_name, query, least) => {
  await kysely.transaction().execute(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx);   // tables are small here; in a long history the planner needs no such advice
    expect((await query().execute(tx)).rows.length).toBeGreaterThanOrEqual(least);
    const { rows } = await sql<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>`explain (analyze, buffers, format json) ${query()}`.execute(tx);
    const { Plan } = rows[0]!['QUERY PLAN'][0]!;
    expect(Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!).toBeLessThan(itemBlocks / 4);
  });
});
