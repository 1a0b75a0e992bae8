/** What analyses and citations ask of the engine: a parent that makes its own children, waits until it can, and a fair share for each user. */
import type pg from 'pg';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../server/db/connection.js';
import { acquire } from '../../server/lease/acquire.js';
import { cancel } from '../../server/lease/cancel.js';
import { enqueueAll } from '../../server/lease/enqueue.js';
import type { Lease } from '../../server/lease/lease.js';
import { analysisJobs, jobCitations } from '../../server/lease/queues.js';
import { settle, succeedWithin } from '../../server/lease/settle.js';
import { causes, alice, bob, expectSound, openTransaction, someoneWaits, undoOpen } from '../lease/world.js';
import { testDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { analysis, awaitingAnalysis, citationRows, citationStates, clearAnalyses, newAnalysis } from './rows.js';

let pool: pg.Pool;
beforeAll(async () => {
  pool = (await testDatabase()).createPool({ max: 8 });
});
beforeEach(() => clearAnalyses(pool));

const capped = { ...alice, userCap: 8 };
const key = ({ id, token }: Lease) => ({ id, token });
const verdict = { verdict: 'supported', evidence: '[]', judge: 'test', confidence: 1 };
const check = (lease: Lease) => inTransaction(pool, (tx) => succeedWithin(tx, jobCitations, alice, lease, { set: verdict }));

/** The lease of an analysis, whose claims are then written by the transaction that ends it. */
async function heldAnalysis(): Promise<Lease> {
  await newAnalysis(pool);
  return (await acquire(pool, analysisJobs, alice, 1))[0]!;
}

function extract(lease: Lease, open: number, ended = 0) {
  return (tx: pg.PoolClient) => succeedWithin(tx, analysisJobs, alice, lease, {
    await: open, set: { total_children: open + ended, succeeded_children: ended, claims_total: open + ended },
    apply: async () => {
      const rows = citationRows(lease.id, lease.row.user_id as string, open + ended);
      const missing = rows.splice(0, ended).map((row) => ({ ...row, state: 'succeeded', verdict: 'source_missing' }));
      await enqueueAll(tx, jobCitations, [...missing, ...rows.map((row) => ({ ...row, verdict: null }))]);
    },
  });
}

describe('an analysis', () => {
  it('awaits the citations that its own lease has made, and closes with the last of them in the same transaction', async () => {
    const lease = await heldAnalysis();
    await inTransaction(pool, extract(lease, 2));
    expect(await analysis(pool, lease.id)).toMatchObject({ state: 'awaiting', open_children: 2, attempt: 0, worker_id: null, error_code: null, finished_at: null });
    const [first, second] = await acquire(pool, jobCitations, capped, 8) as [Lease, Lease];
    await check(first);
    expect(await analysis(pool, lease.id)).toMatchObject({ state: 'awaiting', open_children: 1 });
    const tx = await openTransaction(pool);
    const result = await succeedWithin(tx, jobCitations, alice, second, { set: verdict });
    expect(result.parents).toEqual([{ id: lease.id, state: 'succeeded' }]);
    await tx.undo();
    expect((await analysis(pool, lease.id)).state).toBe('awaiting');
    await check(second);
    expect(await analysis(pool, lease.id)).toMatchObject({ state: 'succeeded', open_children: 0, succeeded_children: 2, finished_at: expect.any(Date) });
    expect(await causes(pool, lease.id)).toEqual(['enqueue', 'acquire', 'await', 'children']);
    await expectSound(pool);
  });

  it('without a citation that needs a check succeeds at once', async () => {
    for (const ended of [0, 3]) {
      const lease = await heldAnalysis();
      await inTransaction(pool, extract(lease, 0, ended));
      expect(await analysis(pool, lease.id)).toMatchObject({ state: 'succeeded', open_children: 0, succeeded_children: ended });
    }
    await expectSound(pool);
  });

  it('fails only when every citation has failed, and then says that each says why', async () => {
    for (const [failing, state, code] of [[1, 'succeeded', null], [2, 'failed', 'no_citation_checked']] as const) {
      const { jobId } = await awaitingAnalysis(pool, `user-${failing}`, 2);
      for (const [n, lease] of (await acquire(pool, jobCitations, alice, 2)).entries()) {
        if (n < failing) await settle(pool, jobCitations, alice, [{ ...key(lease), verb: 'fail', code: 'model_refused', message: 'No.' }]);
        else await check(lease);
      }
      expect(await analysis(pool, jobId)).toMatchObject({ state, error_code: code });
    }
    await expectSound(pool);
  });

  it('waits without being charged or called failed, and a repeated wait is recognised', async () => {
    const lease = await heldAnalysis();
    const wait = { ...key(lease), verb: 'wait' as const, delayMs: 60_000 };
    expect([...await settle(pool, analysisJobs, alice, [wait])]).toEqual([[lease.id, 'settled']]);
    expect([...await settle(pool, analysisJobs, alice, [wait])]).toEqual([[lease.id, 'already']]);
    const row = await analysis(pool, lease.id);
    expect(row).toMatchObject({ state: 'queued', attempt: 0, lost_leases: 0, error_code: null, error_message: null, worker_id: null });
    expect(row.wait).toBeGreaterThan(50);
    expect(await acquire(pool, analysisJobs, bob, 1)).toEqual([]);
    await expectSound(pool);
  });

  it('takes the citations along that it made while it was being cancelled', async () => {
    const lease = await heldAnalysis();
    const tx = await openTransaction(pool);
    await extract(lease, 3)(tx);
    const cancelled = inTransaction(pool, (own) => cancel(own, analysisJobs, [lease.id], 'Cancelled in a test.'));
    await until(() => someoneWaits(pool), { what: 'a cancel that waits for the lease' });
    await tx.commit();
    expect((await cancelled).rows).toHaveLength(4);
    expect(await analysis(pool, lease.id)).toMatchObject({ state: 'cancelled', open_children: 0 });
    expect(await citationStates(pool, lease.id)).toEqual({ cancelled: 3 });
    await undoOpen();
    await expectSound(pool);
  });

  it('is open once for a user, session and thesis', async () => {
    const { rows } = await pool.query(`insert into documents (id, user_id, content_sha256, filename, byte_size, page_count, letters, quality)
      values (gen_random_uuid(), 'anna', '\\x01', 'thesis.pdf', 1, 1, 1, 'good') returning id`);
    const owner = { userId: 'anna', sessionId: 's', thesis: rows[0].id as string };
    await newAnalysis(pool, owner);
    await expect(newAnalysis(pool, owner)).rejects.toMatchObject({ code: '23505', constraint: 'analysis_jobs_one_open' });
    await newAnalysis(pool, { ...owner, sessionId: 'other' });
  });
});

describe('a fair share', () => {
  const held = async () => {
    const { rows } = await pool.query<{ user_id: string; n: number }>(`select user_id, count(*)::int as n from job_citations where state = 'running' group by 1 order by 1`);
    return Object.fromEntries(rows.map((row) => [row.user_id, row.n]));
  };

  it('holds a long thesis at its cap, lets others pass it, and goes on with each citation that ends', async () => {
    await awaitingAnalysis(pool, 'long', 50);
    await awaitingAnalysis(pool, 'short', 3);
    const leases = await acquire(pool, jobCitations, capped, 100);
    expect(await held()).toEqual({ long: 8, short: 3 });
    expect(await acquire(pool, jobCitations, { ...bob, userCap: 8 }, 100)).toEqual([]);
    for (const lease of leases.filter((one) => one.row.user_id === 'long').slice(0, 5)) await check(lease);
    const next = await acquire(pool, jobCitations, { ...bob, userCap: 8 }, 100);
    expect(next.map((lease) => lease.row.user_id)).toEqual(Array(5).fill('long'));
    await expectSound(pool);
  });

  it('is not passed by workers that claim at once', async () => {
    await awaitingAnalysis(pool, 'long', 200);
    await Promise.all(Array.from({ length: 8 }, (_, n) => acquire(pool, jobCitations, { ...capped, workerId: `w-${n}` }, 4)));
    expect(await held()).toEqual({ long: 8 });
  });
});
