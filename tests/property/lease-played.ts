/** The operations of the reference, on the database: each worker with what it believes, as the engine's own functions answer. */
import type pg from 'pg';
import { inTransaction } from '../../server/db/connection.js';
import { acquire } from '../../server/lease/acquire.js';
import { cancel } from '../../server/lease/cancel.js';
import type { Holder } from '../../server/lease/pump.js';
import { parseItems, parseJobs, type QueueDefinition } from '../../server/lease/queues.js';
import { giveBackUnknown } from '../../server/lease/release.js';
import { renew } from '../../server/lease/renew.js';
import { settle } from '../../server/lease/settle.js';
import { sweep } from '../../server/lease/sweep.js';
import { clear, newJob, sweepOptions } from '../lease/world.js';
import { GIVES_BACK, identityOf, ITEMS, MAX_ATTEMPTS, MAX_LOST, PASSES, PUT_OFF, QUEUES, queueOf, type Belief, type EndVerb, type Model, type ModelJob, type QueueName, type WorkerName } from './lease-model.js';

const definitions: Record<QueueName, QueueDefinition> = { items: parseItems, jobs: parseJobs };

export class Played {
  private constructor(private readonly pool: pg.Pool, readonly ids: readonly string[]) {}

  /** An empty database with the rows of `begin()`. */
  static async begin(pool: pg.Pool): Promise<Played> {
    await clear(pool);
    await pool.query('delete from queue_pauses');
    const jobs = [await newJob(pool, 2, { maxAttempts: MAX_ATTEMPTS.items }), await newJob(pool, 2, { maxAttempts: MAX_ATTEMPTS.items })];
    return new Played(pool, [...jobs.flatMap((job) => job.itemIds), ...jobs.map((job) => job.jobId)]);
  }

  private holder(starts: Model['starts'], who: WorkerName): Holder {
    return { workerId: identityOf({ starts }, who), version: 'v1', leaseSeconds: PASSES };
  }

  async acquire(starts: Model['starts'], who: WorkerName, queue: QueueName, limit: number): Promise<Belief[]> {
    const leases = await acquire(this.pool, definitions[queue], this.holder(starts, who), limit);
    return leases.map((lease) => ({ row: this.ids.indexOf(lease.id), token: Number(lease.token) })).sort((a, b) => a.row - b.row);
  }

  async beat(beliefs: readonly Belief[]): Promise<[number, string | undefined][]> {
    const answers = await renew(this.pool, beliefs.map(({ row, token }) => ({ queue: definitions[queueOf(row)].table, id: this.ids[row]!, token: String(token) })), PASSES);
    return beliefs.map(({ row }) => [row, answers.get(`${definitions[queueOf(row)].table}/${this.ids[row]}`)]);
  }

  /** All of one queue in one statement. */
  async end(starts: Model['starts'], who: WorkerName, ends: readonly { belief: Belief; verb: EndVerb }[]): Promise<[number, string | undefined][]> {
    const answers = new Map<string, string>();
    for (const queue of QUEUES) {
      const mine = ends.filter(({ belief }) => queueOf(belief.row) === queue);
      if (mine.length === 0) continue;
      const endings = mine.map(({ belief, verb }) => ({
        id: this.ids[belief.row]!, token: String(belief.token), verb, ...(verb === 'succeed' || GIVES_BACK.includes(verb) ? {} : { code: verb, message: 'In a test.', delayMs: PUT_OFF * 1000 }),
      }));
      for (const [id, answer] of await settle(this.pool, definitions[queue], this.holder(starts, who), endings)) answers.set(id, answer);
    }
    return ends.map(({ belief }) => [belief.row, answers.get(this.ids[belief.row]!)]);
  }

  async giveBackUnknown(starts: Model['starts'], who: WorkerName, known: readonly Belief[]): Promise<number[]> {
    const given: string[] = [];
    for (const queue of QUEUES) {
      const ids = known.filter(({ row }) => queueOf(row) === queue).map(({ row }) => this.ids[row]!);
      given.push(...await giveBackUnknown(this.pool, definitions[queue], this.holder(starts, who), ids));
    }
    return given.map((id) => this.ids.indexOf(id)).sort((a, b) => a - b);
  }

  /** Time is aged in the rows, not waited for. */
  async passMinute(): Promise<void> {
    for (const { table } of Object.values(definitions)) {
      await this.pool.query(`update ${table} set lease_expires_at = lease_expires_at - $1 * interval '1.01 second', run_after = run_after - $1 * interval '1 second'`, [PASSES]);
    }
  }

  async sweep(): Promise<{ requeued: number; failed: number }> {
    const { requeued, failed } = await sweep(this.pool, { ...sweepOptions, maxLostLeases: MAX_LOST });
    return { requeued, failed };
  }

  async cancel(row: number): Promise<{ rows: number[]; lost: number[] }> {
    const { rows, lost } = await inTransaction(this.pool, (tx) => cancel(tx, definitions[queueOf(row)], [this.ids[row]!], 'Cancelled in a test.'));
    const places = (ids: readonly string[]) => ids.map((id) => this.ids.indexOf(id)).sort((a, b) => a - b);
    return { rows: places(rows.map(({ id }) => id)), lost: places(lost) };
  }

  async setPaused(queue: QueueName, paused: boolean): Promise<void> {
    const { table } = definitions[queue];
    if (paused) await this.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ($1, 'test', 'In a test.') on conflict do nothing`, [table]);
    else await this.pool.query('delete from queue_pauses where queue = $1', [table]);
  }

  /** Every row as it is committed, in the words of `expectedRows`. */
  async rows(): Promise<SeenRow[]> {
    const columns = `t.id, t.state, t.lease_token::int as token, t.worker_id as holder, t.attempt, t.lost_leases as lost, coalesce(t.lease_expires_at < now(), false) as stale, t.error_code as code,
      coalesce((select array_agg(e.cause order by e.id) from queue_events e where e.row_id = t.id), '{}') as causes`;
    const { rows } = await this.pool.query<SeenRow & { id: string }>(
      `select ${columns}, t.file_bytes is not null as bytes, null::int as open, null::int as succeeded from parse_items t
       union all select ${columns}, null, t.open_children, t.succeeded_children from parse_jobs t`);
    return this.ids.map((id) => {
      const { id: _, ...row } = rows.find((one) => one.id === id)!;
      return row;
    });
  }
}

export interface SeenRow {
  state: string; token: number; holder: string | null; attempt: number; lost: number; stale: boolean; code: string | null; causes: string[];
  bytes: boolean | null; open: number | null; succeeded: number | null;
}

export function expectedRows({ rows }: Model): SeenRow[] {
  return rows.map((row, at) => {
    const { due: _, ...seen } = row;
    const isItem = at < ITEMS.length;
    const { open, succeeded } = row as ModelJob;
    return { ...seen, bytes: isItem ? ['queued', 'running'].includes(row.state) : null, open: isItem ? null : open, succeeded: isItem ? null : succeeded };
  });
}
