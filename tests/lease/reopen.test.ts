// Rows that have ended without success are queued again, and no others, whatever the caller believed of them.
import type pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../server/db/connection.js';
import { acquire } from '../../server/lease/acquire.js';
import { cancel } from '../../server/lease/cancel.js';
import { jobCitations } from '../../server/lease/queues.js';
import { offerAgain, reopen } from '../../server/lease/reopen.js';
import { settle } from '../../server/lease/settle.js';
import { awaitingAnalysis, analysis } from '../citations/rows.js';
import { testDatabase } from '../support/database.js';
import { alice, causes, expectSound } from './world.js';

let pool: pg.Pool;
beforeAll(async () => { pool = (await testDatabase()).pool; });

it('of a failed, a cancelled, a succeeded, a running and a queued row the first two are queued again, with fresh counters under the old token, and their parent awaits them', async () => {
  const { jobId, citationIds: ids } = await awaitingAnalysis(pool, 'user-1', 5);
  const leases = await acquire(pool, jobCitations, alice, 4);
  const [failed, succeeded, running, cancelled] = leases.map((lease) => lease.id) as [string, string, string, string];
  await pool.query(`update job_citations set verdict = 'supported' where id = $1`, [succeeded]);
  await settle(pool, jobCitations, alice, [{ id: failed, token: '1', verb: 'fail', code: 'internal', message: 'A crash.' }, { id: succeeded, token: '1', verb: 'succeed' }]);
  await inTransaction(pool, (tx) => cancel(tx, jobCitations, [cancelled], 'No longer wanted.'));
  const others = `select to_jsonb(c) as row from job_citations c where id <> all ($1) and job_id = $2 order by id`;
  const before = (await pool.query(others, [[failed, cancelled], jobId])).rows;

  const answer = await inTransaction(pool, (tx) => reopen(tx, jobCitations, ids));
  expect({ rows: [...answer.rows].sort(), parents: answer.parents }).toEqual({ rows: [failed, cancelled].sort(), parents: [jobId] });
  expect((await pool.query(others, [[failed, cancelled], jobId])).rows).toEqual(before);
  const { rows } = await pool.query('select state, attempt, error_code, lease_token::int as token from job_citations where id = any ($1)', [[failed, cancelled]]);
  expect(rows).toEqual([1, 2].map(() => ({ state: 'queued', attempt: 0, error_code: null, token: 1 })));
  expect(await analysis(pool, jobId)).toMatchObject({ state: 'awaiting', open_children: 4, succeeded_children: 1 });
  expect(await inTransaction(pool, (tx) => offerAgain(tx, jobCitations, running))).toBe(false);
  expect(await causes(pool, running)).toEqual(['enqueue', 'acquire']);
  await expectSound(pool);
});
