import type pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquire } from '../../server/lease/acquire.js';
import type { Ending } from '../../server/lease/ending.js';
import type { Lease } from '../../server/lease/lease.js';
import { createLogger } from '../../server/log.js';
import { PumpLoop } from '../../server/worker/pump-loop.js';
import type { TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { add, registry, stateCounts, testRows, workerDatabase } from './world.js';

const holder = { workerId: 'alice-1', version: 'v1', leaseSeconds: 60 };
let database: TestDatabase;
let pumping: PumpLoop | undefined;
beforeAll(async () => { database = await workerDatabase(); });
beforeEach(() => database.pool.query('delete from test_rows; delete from queue_events'));
afterEach(() => pumping?.stop());

/** A pump that claims nothing and has no poll behind it. `ended` hears of each end that was written. */
function pumpOf(leases: readonly Lease[], ended: (endings: readonly Ending[]) => void, query = (config: pg.QueryConfig) => database.pool.query(config)): PumpLoop {
  pumping = new PumpLoop({
    db: { query: ({ text, values }) => query({ text, values: values ?? [] }), generation: () => 1 }, queues: [testRows], registry, holder,
    wanted: () => ({ claim: 0, besideLost: 0 }), known: () => leases.map((lease) => lease.id), claimed: () => {}, ended: (_, endings) => ended(endings),
    changed: () => {}, givenBack: () => {}, log: createLogger({ level: 'silent', name: 'test' }),
  });
  return pumping;
}

async function held(count: number): Promise<Lease[]> {
  await add(database.pool, Array.from({ length: count }, (_, n) => `row ${n}`));
  return acquire(database.pool, testRows, holder, count, registry);
}

const success = ({ id, token }: Lease): Ending => ({ id, token, verb: 'succeed' });

describe('the pump', () => {
  it('writes an end that is handed in while it lies down, in whichever turn that happens', async () => {
    const leases = await held(60);
    let next = 0;
    const endNext = () => { if (next < leases.length) loop.end('test_rows', success(leases[next++]!)); };
    // After each round the next end comes one turn of the microtask queue later than the last time.
    const loop = pumpOf(leases, async () => {
      for (let turns = next; turns > 0; turns--) await Promise.resolve();
      endNext();
    });
    endNext();
    await until(async () => (await stateCounts(database.pool)).succeeded === 60, { timeoutMs: 20_000 });
  });

  it('never sends an end again once it was written, though what follows fails: only what was not written waits', async () => {
    const leases = await held(3);
    const gone: Ending = { id: leases[0]!.id, token: '999', verb: 'succeed' };
    const sent: number[] = [];
    const loop = pumpOf(leases, () => {}, async (config) => {
      if (config.text.includes('unnest($1::uuid[], $2::bigint[]) as m')) throw Object.assign(new Error('cut'), { code: 'ECONNRESET' }); // asking what became of the missing one
      if (Array.isArray(config.values?.[1]) && config.text.includes('width_bucket')) sent.push((config.values[0] as string[]).length);
      return database.pool.query(config);
    });
    for (const ending of [gone, success(leases[1]!), success(leases[2]!)]) loop.end('test_rows', ending);
    await until(() => sent.length === 1 && loop.waiting('test_rows') === 0);
    await loop.stop();
    expect(sent).toEqual([3]);
    expect(await stateCounts(database.pool)).toEqual({ running: 1, succeeded: 2 });
  });
});
