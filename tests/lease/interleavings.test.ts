/**
 * Two workers, a sweeper and an operator over one job of two items, in every order: from each state that can be reached, each operation is
 * run against the database, and its answer, every row and the invariants are compared with a small reference (model.ts). A state is visited
 * once, by the shortest way to it; LEASEBOARD_LONG=1 goes deeper.
 */
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../server/db/connection.js';
import { acquire } from '../../server/lease/acquire.js';
import { cancel } from '../../server/lease/cancel.js';
import type { Lease } from '../../server/lease/lease.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import { renew } from '../../server/lease/renew.js';
import { settle } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { testDatabase } from '../support/database.js';
import { apply, begin, keyOf, OPERATIONS, type Model, type Operation } from './model.js';
import { age, alice, bob, clear, expectSound, itemRow, jobRow, newJob, sweepOptions, type NewJob } from './world.js';

const DEPTH = process.env.LEASEBOARD_LONG ? 6 : 4;

let pool: pg.Pool;
beforeAll(async () => { pool = (await testDatabase()).pool; });

/** The same operations on the database, with what each worker believes. */
class Played {
  private readonly beliefs: Record<string, Lease[]> = { alice: [], bob: [] };
  constructor(readonly job: NewJob) {}

  async run(operation: Operation): Promise<unknown> {
    const [who, verb] = operation.split(' ') as [string, string];
    const holder = who === 'alice' ? alice : bob;
    if (verb === 'acquires') return this.acquires(who);
    if (verb === 'renews') return this.renews(who);
    if (operation === 'leases run out') return void await age(pool);
    if (operation === 'sweep') {
      const { requeued, failed } = await sweep(pool, { ...sweepOptions, maxLostLeases: 2 });
      return { requeued, failed };
    }
    if (operation.startsWith('cancel')) {
      const [queue, id] = operation === 'cancel job' ? [parseJobs, this.job.jobId] as const : [parseItems, this.job.itemIds[0]!] as const;
      const { rows, lost } = await inTransaction(pool, (tx) => cancel(tx, queue, [id], 'Cancelled in a test.'));
      return { rows: rows.length, lost: lost.length };
    }
    const lease = this.beliefs[who]!.shift();
    if (!lease) return null;
    const ending = { succeeds: 'succeed', retries: 'retry', drains: 'drain' } as const;
    const end = { id: lease.id, token: lease.token, verb: ending[verb as keyof typeof ending], code: 'internal', delayMs: 0 };
    return (await settle(pool, parseItems, holder, [end])).get(lease.id);
  }

  private async acquires(who: string): Promise<unknown> {
    const [lease] = await acquire(pool, parseItems, who === 'alice' ? alice : bob, 1);
    if (!lease) return null;
    this.beliefs[who]!.push(lease);
    return { item: this.job.itemIds.indexOf(lease.id), token: Number(lease.token) };
  }

  private async renews(who: string): Promise<unknown> {
    const newest = new Map(this.beliefs[who]!.map((lease) => [lease.id, lease]));
    const answers = await renew(pool, [...newest.values()].map(({ id, token }) => ({ queue: 'parse_items', id, token })), 60);
    return [...newest.keys()].map((id) => [this.job.itemIds.indexOf(id), answers.get(`parse_items/${id}`)]);
  }

  async rows() {
    const items = await Promise.all(this.job.itemIds.map((id) => itemRow(pool, id)));
    const job = await jobRow(pool, this.job.jobId);
    return {
      job: { state: job.state, open: job.open_children, succeeded: job.succeeded_children },
      items: items.map((item) => ({
        state: item.state, token: Number(item.token), holder: item.worker_id?.replace('w-', '') ?? null, attempt: item.attempt, lost: item.lost_leases,
        stale: item.expires_in !== null && item.expires_in < 0, code: item.error_code, bytes: item.bytes,
      })),
    };
  }
}

const expectedRows = ({ items, job }: Model) => ({
  job: { ...job },
  items: items.map(({ due: _, takenByCancel: __, ...item }) => ({ ...item, bytes: ['queued', 'running'].includes(item.state) })),
});

async function play(path: readonly Operation[]): Promise<{ model: Model; played: Played }> {
  await clear(pool);
  const model = begin();
  const played = new Played(await newJob(pool, 2, { maxAttempts: 2 }));
  for (const operation of path) {
    apply(model, operation);
    await played.run(operation);
  }
  return { model, played };
}

describe('acquire, renew, settle, release, sweep and cancel', () => {
  it(`agree with the reference in every order, ${DEPTH} steps deep, and break no invariant`, async () => {
    const seen = new Set([keyOf(begin())]);
    let paths: Operation[][] = [[]];
    let steps = 0;
    for (let depth = 1; depth <= DEPTH; depth++) {
      const longer: Operation[][] = [];
      for (const path of paths) {
        for (const operation of OPERATIONS) {
          const preview = begin();
          for (const one of path) apply(preview, one);
          const before = keyOf(preview);
          apply(preview, operation);
          const isNew = !seen.has(keyOf(preview));
          if (!isNew && keyOf(preview) !== before && depth === DEPTH) continue; // another way to a state that was compared already
          const { model, played } = await play(path);
          const [expected, answered] = [apply(model, operation) ?? null, await played.run(operation) ?? null];
          expect([[...path, operation], answered, await played.rows()]).toEqual([[...path, operation], expected, expectedRows(model)]);
          await expectSound(pool);
          steps += 1;
          if (isNew) longer.push([...path, operation]);
          seen.add(keyOf(model));
        }
      }
      paths = longer;
    }
    expect(steps).toBeGreaterThan(500);
    expect(seen.size).toBeGreaterThan(100);
    process.stdout.write(`${steps} steps over ${seen.size} states\n`);
  }, 900_000);
});
