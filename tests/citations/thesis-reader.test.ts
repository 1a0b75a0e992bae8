import { beforeAll, describe, expect, it } from 'vitest';
import type { ThesisOrder } from '../../server/citations/read-thesis.js';
import { readInThread } from '../../server/citations/thesis-reader.js';
import { PermanentError } from '../../server/lease/errors.js';
import { createParseJobHandler } from '../../server/parse/parse-job.js';
import { offlineEmbedder } from '../../server/sources/offline-embedder.js';
import { heldJob, runToEnd } from '../parse/held.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { analysis, newAnalysis } from './rows.js';

/** A second or more of reading. */
const long = orderOf(Array.from({ length: 2_000 }, (_, n) => `Finding ${n} was reported before (Miller ${1950 + (n % 70)}).`).join('\n'));

function orderOf(body: string): ThesisOrder {
  return { chunks: [{ charFrom: 0, charTo: body.length, pageFrom: 1, pageTo: 1, body }], pageStarts: [0], sources: [] };
}

describe('a thesis that is being read', () => {
  it('leaves the event loop free, so that beats go out in the meantime', async () => {
    let [worst, last] = [0, performance.now()];
    const timer = setInterval(() => {
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
    }, 10);
    const read = await readInThread(long, new AbortController().signal).finally(() => clearInterval(timer));
    expect(read.reading.marks).toMatchObject({ seen: read.citations.length, resolved: 0 });
    expect(read.citations.length).toBeGreaterThan(1_500);
    expect(worst).toBeLessThan(1_500); // far below a beat's interval, on a busy machine too
  }, 120_000);

  it('is given up at the time limit, for good', async () => {
    const failure = await readInThread(long, new AbortController().signal, 0.05).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PermanentError);
    expect(failure).toMatchObject({ code: 'took_too_long' });
  });

  it('is given up with the signal, whose reason is thrown, and is not begun after it', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const reading = readInThread(long, controller.signal).catch((error: unknown) => error);
    controller.abort(reason);
    expect(await reading).toBe(reason);
    await expect(readInThread(long, controller.signal)).rejects.toBe(reason);
  });
});

describe('an upload that has been parsed', () => {
  let database: TestDatabase;
  beforeAll(async () => { database = await testDatabase(); });

  it('wakes the analyses of its own session that wait for it, and no others', async () => {
    const { pool } = database;
    const owners = [{ userId: 'anna', sessionId: 's1' }, { userId: 'anna', sessionId: 's2' }, { userId: 'ben', sessionId: 's1' }];
    const ids = await Promise.all(owners.map((owner) => newAnalysis(pool, owner)));
    await pool.query(`update analysis_jobs set run_after = now() + interval '1 hour'`);
    const lease = await heldJob(pool, [], { user_id: 'anna', session_id: 's1' });
    await runToEnd(createParseJobHandler({ embedder: offlineEmbedder(), kickChannel: 'leaseboard_kick' }), pool, lease);
    const waits = await Promise.all(ids.map(async (id) => (await analysis(pool, id)).wait > 60));
    expect(waits).toEqual([false, true, true]);
  });
});
