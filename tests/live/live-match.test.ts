import fc from 'fast-check';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, expect, it } from 'vitest';
import { matches } from '../../server/console/live-match.js';
import { FILTER_STATES, type QueueFilters } from '../../server/console/queue-filters.js';
import { matchingIds } from '../../server/console/queue-query.js';
import { readOnly, readStamp } from '../../server/console/read.js';
import { selectRows } from '../../server/console/row-select.js';
import { createKysely } from '../../server/db/kysely.js';
import { parseItems, parseJobs, type QueueDefinition } from '../../server/lease/queues.js';
import { insertParseItem, insertParseJob, insertWorker, sql as expression } from '../support/factories.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

let db: TestDatabase;
const workers: string[] = [];

/** Ids carry the time of creation, as those that enqueue() makes. */
const aged = (minutes: number) => ({ id: uuidv7({ msecs: Date.now() - minutes * 60_000 }), created_at: expression(`now() - interval '${minutes} minutes'`) });

beforeAll(async () => {
  db = await testDatabase();
  for (const [label, version] of [['w-a', 'v1'], ['w-b', 'v1'], ['w-b', 'v2']]) workers.push((await insertWorker(db.pool, { label, version })).id);
  const who = { user_id: 'u1', session_id: 's1' };
  for (const worker_id of workers) {
    await insertParseItem(db.pool, { ...who, state: 'running', worker_id });
    await insertParseItem(db.pool, { state: 'running', worker_id, lease_expires_at: expression("now() - interval '5 seconds'"), ...aged(120) });
    await insertParseJob(db.pool, { state: 'running', worker_id, open_children: 0 });
  }
  for (const state of ['queued', 'succeeded', 'failed', 'cancelled'] as const) {
    await insertParseItem(db.pool, { ...who, state });
    await insertParseItem(db.pool, { state, ...aged(30), ...(state === 'queued' ? { error_code: 'internal' } : {}) });
    await insertParseJob(db.pool, { state });
  }
  await insertParseJob(db.pool);
});

it('decides in memory what the page query decides in SQL', async () => {
  const kysely = createKysely(db.pool);
  const filters: fc.Arbitrary<QueueFilters> = fc.record({
    states: fc.subarray([...FILTER_STATES]),
    worker: fc.constantFrom(null, null, 'w-a', 'w-b', workers[1]!, 'nobody'),
    version: fc.constantFrom(null, null, 'v1', 'v2'),
    user: fc.constantFrom(null, null, 'u1', 'user-1'),
    session: fc.constantFrom(null, null, 's1'),
    error: fc.constantFrom(null, null, 'internal', 'cancelled'),
    older: fc.constantFrom(null, null, 60, 3_600),
    newer: fc.constantFrom(null, null, 60, 3_600),
    before: fc.constant(null),
    after: fc.constant(null),
  });
  const agree = async (queue: QueueDefinition, wanted: QueueFilters) => {
    const { asOf, rows, found } = await readOnly(kysely, async (reader) => {
      const stamp = await readStamp(reader);
      const { rows: all } = await sql<{ id: string }>`select id from ${sql.raw(queue.table)}`.execute(reader);
      const page = await matchingIds(queue, wanted, stamp.asOf, 1_000).execute(reader);
      return { ...stamp, rows: await selectRows(reader, queue, all.map((row) => row.id)), found: page.rows.map((row) => row.id) };
    });
    expect(rows.filter((row) => matches(wanted, row, asOf)).map((row) => row.id).sort()).toEqual(found.sort());
  };
  await fc.assert(fc.asyncProperty(fc.constantFrom(parseItems, parseJobs), filters, agree), { numRuns: 150 });
});
