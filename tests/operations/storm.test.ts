/**
 * People who cancel, re-kick, release and force, against workers that claim, settle, beat and die, and a sweep, all on the same few rows for a
 * while: no deadlock may surface, nothing may be reported that did not happen, no invariant may break. LEASEBOARD_LONG=1 runs for a minute.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import type { Verb } from '../../server/lease/ending.js';
import { checkInvariants } from '../../server/lease/invariants.js';
import type { Lease } from '../../server/lease/lease.js';
import { pump, type Holder } from '../../server/lease/pump.js';
import { jobCitations } from '../../server/lease/queues.js';
import { renew } from '../../server/lease/renew.js';
import { sweep } from '../../server/lease/sweep.js';
import { errorCode, inTransaction } from '../../server/db/connection.js';
import { fence } from '../../server/lease/fence.js';
import { alice, bob, invariantSettings, sweepOptions } from '../lease/world.js';
import { awaitingAnalysis } from '../citations/rows.js';
import { testDatabase } from '../support/database.js';
import { insertDocument } from '../support/factories.js';
import { openDesk, press, registerWorkers, type Desk } from './world.js';
import type { ActionName } from '../../server/operations/actions.js';

const SECONDS = process.env.LEASEBOARD_LONG ? 60 : 5;
const PATIENCE_SECONDS = 60;
const AT_LEAST = 15;
const JOBS = 4;

let pool: pg.Pool;
let desk: Desk;
beforeAll(async () => {
  const db = await testDatabase();
  pool = db.createPool({ max: 14 });
  desk = openDesk(db, pool);
  await registerWorkers(pool);
});
/** An analysis that awaits five checks of a source that is linked. */
async function linkedAnalysis(tx: pg.PoolClient): Promise<void> {
  const { jobId } = await awaitingAnalysis(tx, 'user-1', 5);
  const source = await insertDocument(tx as unknown as pg.Pool);
  await tx.query(`insert into session_sources (user_id, session_id, document_id, linked_by) select user_id, session_id, $2, 'parse_item' from analysis_jobs where id = $1`, [jobId, source.id]);
  await tx.query('update job_citations c set session_id = j.session_id, document_id = $2 from analysis_jobs j where j.id = c.job_id and j.id = $1', [jobId, source.id]);
}

const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)]!;
const VERBS: Verb[] = ['succeed', 'fail', 'fail', 'fail', 'fail', 'retry', 'drain', 'outage'];

it('leaves everything whole, and everyone told the truth', async () => {
  const jobs: string[] = [];
  const citations: string[] = [];
  /** A small pile, so that everybody is after the same rows; what has succeeded is of no more use. */
  async function supply(): Promise<void> {
    const { rows } = await pool.query<{ id: string }>(`select id from analysis_jobs where state <> 'succeeded' order by id desc limit ${JOBS}`);
    if (rows.length < JOBS) await inTransaction(pool, (tx) => linkedAnalysis(tx));
    const left = await pool.query<{ id: string; job_id: string }>(`select id, job_id from job_citations where state <> 'succeeded' and job_id = any ($1)`, [rows.map((row) => row.id)]);
    jobs.splice(0, jobs.length, ...rows.map((row) => row.id));
    citations.splice(0, citations.length, ...left.rows.map((row) => row.id));
    await pause(20);
  }
  while (citations.length === 0) await supply();
  const began = performance.now();
  const surfaced: string[] = [];
  const count = { ends: 0, claims: 0, swept: 0, busy: 0, retried: 0 };
  const applied: Record<string, number> = { rekick: 0, cancel: 0, force_release: 0, release: 0 };
  const enough = () => Math.min(count.ends, count.claims, applied.rekick!, applied.cancel!, applied.force_release!) >= AT_LEAST;
  const over = () => surfaced.length > 0 || performance.now() - began > (enough() ? SECONDS : SECONDS + PATIENCE_SECONDS) * 1000;

  async function forever(step: () => Promise<void>): Promise<void> {
    while (!over()) await step().catch((error: unknown) => void surfaced.push(`${errorCode(error)} ${String(error)}`));
  }

  /** As a worker: verdicts under the fence, then the end. A worker's own loop repeats what Postgres undoes (40P01). */
  async function work(holder: Holder, held: Lease[]): Promise<void> {
    const done = held.splice(0, 4);
    const verbs = done.map(() => pick(VERBS));
    for (const [n, lease] of done.entries()) {
      if (verbs[n] !== 'succeed') continue;
      await inTransaction(pool, async (tx) => {
        await fence(tx, lease);
        await tx.query(`update job_citations set verdict = 'supported' where id = $1`, [lease.id]);
      }).catch(() => { verbs[n] = 'fail'; });
    }
    const result = await repeated(() => pump(pool, jobCitations, { ...holder, leaseSeconds: 60 }, { endings: done.map(({ id, token }, n) => ({ id, token, verb: verbs[n]!, code: 'internal', message: 'A storm.', delayMs: 0 })), claim: 4 }));
    held.push(...result.claimed);
    count.ends += result.ended.length;
    count.claims += result.claimed.length;
    if (Math.random() < 0.3) { // it dies: its leases run out at once
      await renew(pool, held.map(({ id, token }) => ({ queue: 'job_citations', id, token })), 0.001);
      held.length = 0;
    }
    await pause(Math.random() * 20); // someone else gets a look at what is held
  }

  async function repeated<T>(statement: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await statement();
      } catch (error) {
        if (errorCode(error) !== '40P01') throw error;
        count.retried += 1;
      }
    }
  }

  async function act(): Promise<void> {
    const onJob = Math.random() < 0.5;
    const action: ActionName = onJob ? pick(['rekick', 'rekick', 'cancel'] as const) : pick(['rekick', 'cancel', 'release', 'force_release', 'force_release'] as const);
    if (jobs.length === 0 || citations.length === 0) return;
    const held = action.includes('release') ? (await pool.query<{ id: string; token: string }>(`select id, lease_token::text as token from job_citations where state = 'running' order by random() limit 1`)).rows[0] : undefined;
    const id = onJob ? pick(jobs) : held?.id ?? pick(citations);
    const answer = await press(desk, action, { queue: onJob ? 'analysis-jobs' : 'citations', id, token: held?.token ?? '1' });
    if (answer.outcome === 'applied') applied[action]! += 1;
    if (answer.code === 'busy') count.busy += 1;
  }

  await Promise.all([
    ...[[], []].map((held) => forever(() => work(alice, held))), ...[[], []].map((held) => forever(() => work(bob, held))),
    ...[1, 2, 3, 4].map(() => forever(act)),
    forever(supply),
    forever(async () => { const { requeued, failed } = await sweep(pool, { ...sweepOptions, maxLostLeases: 1_000 }); count.swept += requeued + failed; }),
    forever(async () => {
      expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
      await pause(250);
    }),
  ]);
  process.stdout.write(`${JSON.stringify({ ...count, applied })}\n`);
  expect(surfaced).toEqual([]);
  expect(count.busy).toBe(0);
  const { rows } = await pool.query<{ action: string; n: number }>(`select action, count(*)::int as n from operator_actions where outcome = 'applied' group by 1`);
  expect(Object.fromEntries(rows.map((row) => [row.action, row.n]))).toEqual(Object.fromEntries(Object.entries(applied).filter(([, n]) => n > 0)));
  expect(await checkInvariants(pool, invariantSettings)).toEqual([]);
  expect(enough()).toBe(true);
}, (SECONDS + PATIENCE_SECONDS) * 1000 + 60_000);
