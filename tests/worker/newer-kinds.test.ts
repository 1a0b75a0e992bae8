/** Two versions of one queue side by side: the older build knows schema version 1 of its kind, the newer one version 2 and a kind of its own. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { enqueue } from '../../server/lease/enqueue.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import type { QueueDefinition } from '../../server/lease/queues.js';
import { createLogger } from '../../server/log.js';
import { createWorkerProcess, type WorkerProcess } from '../../server/worker/process.js';
import { invariantSettings } from '../lease/world.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { add, clocks, row, testRows, workerDatabase } from './world.js';

const older: QueueDefinition = { ...testRows, kinds: { test: 1 } };
const newer: QueueDefinition = { ...testRows, kinds: { test: 2, fresh: 1 } };

let database: TestDatabase;
const running: WorkerProcess[] = [];
beforeAll(async () => { database = await workerDatabase(); });
beforeEach(() => database.pool.query('truncate test_rows, workers, queue_events'));
afterEach(async () => { await Promise.all(running.splice(0).map((worker) => worker.stop(0.1))); });

async function start(queue: QueueDefinition, version: string): Promise<WorkerProcess> {
  const worker = createWorkerProcess({
    config: database.config({ ...clocks, appVersion: version }), role: 'worker', pool: database.pool, registry: [queue],
    handlers: { test_rows: () => Promise.resolve({ succeed: true }) }, log: createLogger({ level: 'silent', name: 'test' }),
  });
  running.push(worker);
  await worker.start();
  return worker;
}

async function unknown(kind: string, schemaVersion: number): Promise<string> {
  const id = uuidv7();
  await enqueue(database.pool, testRows, { id, kind, schemaVersion, columns: { name: 'unknown' } });
  return id;
}

const causes = async (id: string) => (await database.pool.query('select cause from queue_events where row_id = $1 order by id', [id])).rows.map(({ cause }) => cause as string);
const doneBefore = (id: string) => until(async () => (await row(database.pool, id)).state === 'succeeded', { what: 'the end of the row' });

test('an older worker passes over what it does not know, uncharged, and takes what stands behind it; a newer worker takes it at once', async () => {
  await start(older, 'v1');
  const ids = [await unknown('test', 2), await unknown('fresh', 1)];
  const [known] = await add(database.pool, ['known']);
  await doneBefore(known!);
  // Waited for so long that every poll, sweep and lease of the older worker has gone by.
  await database.pool.query(`update test_rows set run_after = now() - interval '2 days', queued_at = now() - interval '2 days', created_at = now() - interval '2 days' where id = any ($1::uuid[])`, [ids]);
  const [later] = await add(database.pool, ['later']);
  await doneBefore(later!);
  for (const id of ids) {
    expect(await row(database.pool, id)).toMatchObject({ state: 'queued', attempt: 0, lost_leases: 0, lease_token: '0', worker_id: null });
    expect(await causes(id)).toEqual(['enqueue']);
  }
  expect(await checkInvariants(database.pool, invariantSettings, [newer])).toEqual([]);

  await start(newer, 'v2');
  for (const id of ids) {
    await doneBefore(id);
    expect(await causes(id)).toEqual(['enqueue', 'acquire', 'succeed']);
    expect(await row(database.pool, id)).toMatchObject({ attempt: 0, lost_leases: 0, lease_token: '1' });
  }
  const { rows } = await database.pool.query(`select distinct worker_version from queue_events where row_id = any ($1::uuid[]) and worker_id is not null`, [ids]);
  expect(rows).toEqual([{ worker_version: 'v2' }]);
});

test('each announces what it knows, and only what it takes', async () => {
  await start(older, 'v1');
  await start(newer, 'v2');
  const { rows } = await database.pool.query('select version, capabilities, kinds from workers order by version');
  expect(rows).toEqual([
    { version: 'v1', capabilities: ['parse'], kinds: { test_rows: { test: 1 } } },
    { version: 'v2', capabilities: ['parse'], kinds: { test_rows: { test: 2, fresh: 1 } } },
  ]);
});
