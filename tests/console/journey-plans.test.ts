import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { readJourney } from '../../server/console/journey.js';
import { readOnly } from '../../server/console/read.js';
import { createKysely } from '../../server/db/kysely.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import type { JourneyWorld } from './journey-world.js';
import { ago, journeyWorld, SESSION, USER } from './journey-world.js';

let database: TestDatabase;
let world: JourneyWorld;
const done = { state: 'succeeded' as const };

/** Ids and instants agree, newest last. */
const ID = `(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
const MADE = (rows: number) => `(select n, at, lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as h from (select n, now() - (${rows} - n) * interval '10 seconds' as at from generate_series(1, ${rows}) n) t) made`;

/** Two thousand uploads of ten files and as many analyses of twenty citations, all ended, by five hundred users. */
beforeAll(async () => {
  database = await testDatabase();
  world = journeyWorld(database.pool);
  await database.pool.query(`
    insert into parse_jobs (id, user_id, session_id, state, open_children, total_children, succeeded_children, created_at, run_after, claimed_at, finished_at, lease_token)
      select ${ID}, 'u-' || n % 500, 's-' || n, 'succeeded', 0, 10, 10, at, at, at, at + interval '30 seconds', 1 from ${MADE(2000)};
    insert into parse_items (id, job_id, user_id, session_id, filename, byte_size, content_sha256, state, lease_token, created_at, run_after, claimed_at, finished_at)
      select gen_random_uuid(), j.id, j.user_id, j.session_id, k || '.pdf', 1000, '\\x00', 'succeeded', 1, j.created_at, j.created_at, j.created_at, j.created_at + k * interval '2 seconds' from parse_jobs j, generate_series(1, 10) k;
    insert into analysis_jobs (id, user_id, session_id, state, open_children, total_children, succeeded_children, claims_total, created_at, run_after, claimed_at, finished_at, lease_token)
      select ${ID}, 'u-' || n % 500, 's-' || n, 'succeeded', 0, 20, 20, 20, at, at, at, at + interval '90 seconds', 1 from ${MADE(2000)};
    insert into job_citations (id, job_id, user_id, session_id, ordinal, claim, mark, page, char_from, char_to, state, verdict, lease_token, created_at, run_after, claimed_at, finished_at)
      select gen_random_uuid(), a.id, a.user_id, a.session_id, k, 'a claim of the usual length in such a thesis', 'm', 1, 0, 1, 'succeeded', 'supported', 1, a.created_at + interval '5 seconds', a.created_at, a.created_at + k * interval '4 seconds', a.created_at + (k + 1) * interval '4 seconds'
        from analysis_jobs a, generate_series(0, 19) k;
    insert into queue_events (queue, row_id, cause, from_state, to_state) select 'job_citations', c.id, cause, 'queued', 'running' from job_citations c, unnest(array['enqueue', 'acquire', 'succeed']) cause`);
  await database.pool.query('vacuum analyze parse_jobs, parse_items, analysis_jobs, job_citations, queue_events');
});

const TABLES = `array['parse_jobs', 'parse_items', 'analysis_jobs', 'job_citations', 'queue_events', 'session_sources', 'documents', 'operator_actions']`;
/** Blocks of tables and their indexes that this connection has touched. */
const FETCHED = sql<{ fetched: number }>`select sum(pg_stat_get_xact_blocks_fetched(o))::int as fetched from (
  select t::regclass::oid as o from unnest(${sql.raw(TABLES)}) t union all select i.indexrelid from unnest(${sql.raw(TABLES)}) t join pg_index i on i.indrelid = t::regclass) o`;

test.each([
  ['a journey that waits for its files', () => world.upload([done, {}]).then(() => world.asked())],
  ['a journey whose claims are being read', () => world.link().then(() => world.asked({ state: 'running', claimed_at: ago('2 seconds') }))],
  ['a journey among its citations', () => world.link().then(() => world.checking([done, { state: 'running' }, {}]))],
] as const)('%s is read out of a long history by touching little of it', async (_name, build) => {
  await world.worker();
  await build();
  const fetched = await readOnly(createKysely(database.pool), async (reader) => {
    const before = (await FETCHED.execute(reader)).rows[0]!.fetched;
    expect(await readJourney(reader, { userId: USER, sessionId: SESSION })).not.toBeNull();
    return (await FETCHED.execute(reader)).rows[0]!.fetched - before;
  });
  const { rows } = await database.pool.query(`select (sum(pg_total_relation_size(t::regclass)) / 8192)::int as blocks from unnest(${TABLES}) t`);
  expect(fetched).toBeLessThan(rows[0].blocks / 6);
});
