import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createKysely } from '../../server/db/kysely.js';
import { registerProcess, type ProcessRole } from '../../server/lease/processes.js';
import { readWorkers } from '../../server/console/workers.js';
import { liveWords } from '~/format/fleet-words';
import { testDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
});
beforeEach(() => database.pool.query('truncate workers, redeploys'));

const start = (id: string, role: ProcessRole, version: string) => registerProcess(database.pool, { id, label: id, role, version, host: 'test', pid: 1, capabilities: role === 'web' ? [] : ['parse'], kinds: {}, slots: role === 'web' ? 0 : 4, heartbeatSeconds: 30 });
const stop = (id: string) => database.pool.query('update workers set stopped_at = now() where id = $1', [id]);

test('a redeploy of the workers alone is mixed while it rolls, and over when it is over, though web keeps its version', async () => {
  const seen = async () => {
    const { workers, redeploys } = await readWorkers(kysely);
    return [liveWords(workers.filter(({ stoppedAt }) => stoppedAt === null)), redeploys.map(({ role, fromVersion, toVersion }) => `${role} ${fromVersion} ${toVersion}`)];
  };
  await start('web', 'web', 'a1');
  await start('worker', 'worker', 'a1');
  expect(await seen()).toEqual(['1 worker and 1 web process live', []]);
  await start('next', 'worker', 'b2');
  expect(await seen()).toEqual(['2 workers and 1 web process live, mixed versions of workers (b2, a1)', ['worker a1 b2']]);
  await stop('worker');
  expect(await seen()).toEqual(['1 worker and 1 web process live, workers on b2, web on a1', ['worker a1 b2']]);
});
