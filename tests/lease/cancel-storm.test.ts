/**
 * Cancels of parents against settles, claims, sweeps and give-backs of their children, all at once and for a while: no deadlock may surface
 * (inTransaction and the pump's owner repeat what Postgres undoes), no invariant may break. LEASEBOARD_LONG=1 runs for a minute.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorCode, inTransaction } from '../../server/db/connection.js';
import { acquire } from '../../server/lease/acquire.js';
import { cancel } from '../../server/lease/cancel.js';
import type { Verb } from '../../server/lease/ending.js';
import type { Lease } from '../../server/lease/lease.js';
import { pump, type Holder } from '../../server/lease/pump.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import { renew } from '../../server/lease/renew.js';
import { sweep } from '../../server/lease/sweep.js';
import { testDatabase } from '../support/database.js';
import { alice, bob, expectSound, newJob, sweepOptions } from './world.js';

const SECONDS = process.env.LEASEBOARD_LONG ? 60 : 4;
/** A busy machine gets more time, until this much of each has happened. */
const AT_LEAST = 20;
const PATIENCE_SECONDS = 45;

let pool: pg.Pool;
beforeAll(async () => { pool = (await testDatabase()).createPool({ max: 12 }); });

const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)]!;
const VERBS: Verb[] = ['succeed', 'succeed', 'fail', 'retry', 'drain', 'outage'];

describe('a storm of cancels', () => {
  it('against settle, claim, beat and sweep of the children leaves everything whole and nobody waiting', async () => {
    const began = performance.now();
    const jobs: string[] = [];
    const surfaced: string[] = [];
    const count = { deadlocks: 0, cancels: 0, ends: 0, claims: 0, swept: 0 };

    const enough = () => Math.min(count.cancels, count.ends, count.claims) >= AT_LEAST;
    const over = () => performance.now() - began > (enough() ? SECONDS : SECONDS + PATIENCE_SECONDS) * 1000;

    async function forever(step: () => Promise<void>): Promise<void> {
      while (!over()) {
        await step().catch((error: unknown) => {
          if (errorCode(error) === '40P01') count.deadlocks += 1;
          surfaced.push(String(error));
        });
      }
    }

    async function work(holder: Holder, held: Lease[]): Promise<void> {
      const endings = held.splice(0, 6).map((lease) => ({ id: lease.id, token: lease.token, verb: pick(VERBS), code: 'internal', delayMs: 0 }));
      const result = await pump(pool, parseItems, holder, { endings, claim: 6 });
      held.push(...result.claimed);
      count.ends += result.ended.length;
      count.claims += result.claimed.length;
      if (Math.random() < 0.3) { // it dies: its leases run out at once
        await renew(pool, held.map(({ id, token }) => ({ queue: 'parse_items', id, token })), 0.001);
        held.length = 0;
      }
      if (Math.random() < 0.2) for (const job of await acquire(pool, parseJobs, holder, 4)) await pump(pool, parseJobs, holder, { endings: [{ id: job.id, token: job.token, verb: 'succeed' }], claim: 0 });
    }

    async function cancelSome(): Promise<void> {
      const ids = [pick(jobs), pick(jobs), pick(jobs)].filter(Boolean);
      count.cancels += (await inTransaction(pool, (tx) => cancel(tx, parseJobs, ids, 'Cancelled in a storm.'))).rows.length;
      const { rows } = await pool.query('select id from parse_items where finished_at is null order by random() limit 2');
      await inTransaction(pool, (tx) => cancel(tx, parseItems, rows.map((row) => row.id as string), 'Cancelled in a storm.'));
    }

    // A small pile, so that everybody is after the same rows.
    async function upload(): Promise<void> {
      const { rows } = await pool.query('select id from parse_jobs where finished_at is null order by id desc limit 8');
      jobs.splice(0, jobs.length, ...rows.map((row) => row.id as string));
      if (rows.length < 8) await inTransaction(pool, async (tx) => { for (let n = 0; n < 3; n++) await newJob(tx, 4); });
    }

    await upload();
    await Promise.all([
      forever(upload),
      ...[[], []].map((held) => forever(() => work(alice, held))), ...[[], []].map((held) => forever(() => work(bob, held))),
      forever(cancelSome), forever(cancelSome),
      forever(async () => { const { requeued, failed } = await sweep(pool, sweepOptions); count.swept += requeued + failed; }),
      forever(async () => { await expectSound(pool); await pause(250); }),
    ]);
    process.stdout.write(`${JSON.stringify(count)}\n`);
    expect(surfaced).toEqual([]);
    await expectSound(pool);
    expect(enough()).toBe(true);
  }, (SECONDS + PATIENCE_SECONDS) * 1000 + 60_000);
});
