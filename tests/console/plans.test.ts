import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { noFilters } from '~/format/filters';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import { COUNT_CAP, PAGE_ROWS } from '../../server/console/queue-page.js';
import { matchingCount, matchingIds } from '../../server/console/queue-query.js';
import { createKysely } from '../../server/db/kysely.js';
import { parseItems } from '../../server/lease/queues.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { insertParseJob } from '../support/factories.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
let heapBlocks: number;
let middle: string;

/** A long history with a little open work at its end: ids and instants agree, newest last. */
beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
  const job = await insertParseJob(database.pool, { state: 'succeeded' });
  await database.pool.query(`
    insert into parse_items (id, job_id, user_id, session_id, filename, byte_size, content_sha256, state, lease_token, created_at, run_after, finished_at, error_code,
      worker_id, heartbeat_at, lease_expires_at, file_bytes)
    select (substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, 'u-' || n % 500, 's-' || n % 5000, 'paper.pdf', 1, '\\x00', state, 1, at, at,
      case when state in ('succeeded', 'failed') then at end, case when state = 'failed' then 'no_text' end,
      case when state = 'running' then 'w' end, case when state = 'running' then at end, case when state = 'running' then now() + (n % 3 - 1) * interval '1 minute' end,
      case when state in ('running', 'queued') then '\\x00'::bytea end
    from (select n, now() - (60000 - n) * interval '20 seconds' as at, lpad(to_hex((extract(epoch from now() - (60000 - n) * interval '20 seconds') * 1000)::bigint), 12, '0') as h,
      case when n > 59900 then 'queued' when n > 59860 then 'running' when n % 40 = 0 then 'failed' else 'succeeded' end as state from generate_series(1, 60000) n) made`, [job.id]);
  await database.pool.query('vacuum analyze parse_items');
  heapBlocks = (await database.pool.query(`select (pg_relation_size('parse_items') / 8192)::int as n`)).rows[0].n;
  middle = (await database.pool.query(`select id from parse_items order by id offset 30000 limit 1`)).rows[0].id;
});

async function blocksOf(query: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>`explain (analyze, buffers, format json) ${query}`.execute(kysely);
  const { Plan } = rows[0]!['QUERY PLAN'][0]!;
  return Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!;
}

const asked: [string, Partial<QueueFilters>][] = [
  ['everything', {}], ['queued', { states: ['queued'] }], ['running', { states: ['running'] }], ['stale', { states: ['stale'] }], ['failed', { states: ['failed'] }],
  ['open states at once', { states: ['queued', 'running', 'stale'] }], ['failed and running', { states: ['failed', 'running'] }], ['a user', { user: 'u-7' }],
  ['a session', { session: 's-7' }], ['an error', { error: 'no_text' }], ['a holder', { worker: 'w' }], ['a version', { version: 'v1' }],
  ['older than a week', { older: 600_000 }], ['newer than an hour', { newer: 3_600 }], ['a user\'s failures', { user: 'u-7', states: ['failed'] }],
];

test.each(asked)('a page of %s touches a small part of a long history, at its start and in its middle', async (_name, filters) => {
  const asOf = Date.now();
  for (const before of [null, middle]) {
    const blocks = await blocksOf(matchingIds(parseItems, { ...noFilters, ...filters, before }, asOf, PAGE_ROWS + 1));
    expect(blocks).toBeLessThan(heapBlocks / 5);
  }
});

test.each(asked.filter(([, filters]) => Object.keys(filters).length > 0 && !filters.older))('counting %s touches a small part of a long history', async (_name, filters) => {
  const blocks = await blocksOf(matchingCount(parseItems, { ...noFilters, ...filters }, Date.now(), COUNT_CAP));
  expect(blocks).toBeLessThan(heapBlocks);
});
