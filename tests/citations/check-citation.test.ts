import type pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { createCitationHandler } from '../../server/citations/check-citation.js';
import { offlineJudge } from '../../server/citations/judge/offline-judge.js';
import { acquire } from '../../server/lease/acquire.js';
import { LeaseLostError } from '../../server/lease/errors.js';
import { jobCitations } from '../../server/lease/queues.js';
import { createLogger } from '../../server/log.js';
import { alice } from '../lease/world.js';
import { testDatabase } from '../support/database.js';
import { insertDocument } from '../support/factories.js';
import { awaitingAnalysis } from './rows.js';

let pool: pg.Pool;
beforeAll(async () => { pool = (await testDatabase()).pool; });

it('asks nobody about a claim whose lease has gone to another', async () => {
  await awaitingAnalysis(pool, 'user-1', 1);
  const [lease] = await acquire(pool, jobCitations, { ...alice, userCap: 8 }, 1);
  const document = await insertDocument(pool, { user_id: 'user-1' });
  let asked = 0;
  const passagesFor = async () => { asked += 1; return []; };
  const handler = createCitationHandler({ retrieval: { passagesFor } as never, judge: offlineJudge() });
  const work = { signal: new AbortController().signal, progress: () => {}, outsideAnswered: () => {}, log: createLogger({ level: 'silent', name: 'test' }), pool };
  const held = { ...lease!, row: { ...lease!.row, document_id: document.id } };
  await handler(held, work);
  expect(asked).toBe(1);
  await pool.query('update job_citations set lease_token = lease_token + 1 where id = $1', [lease!.id]);
  await expect(handler(held, work)).rejects.toBeInstanceOf(LeaseLostError);
  expect(asked).toBe(1);
});
