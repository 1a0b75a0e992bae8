import { sql } from 'kysely';
import { deployments, queues } from '../lease/queues.js';
import { isHeld } from '../lease/words.js';
import type { NowLimits } from './now.js';
import type { Reader } from './read.js';
import { ms, uuidFloor } from './read.js';
import { selectRows, tableOf } from './row-select.js';
import type { RowView } from './row-view.js';

/** What may need a person. Rows are a sample; the page says how many more there are from the counts. */
export interface Trouble {
  staleRows: RowView[];
  /** Publish locks silent for longer than the dead-after time: the next publish takes them over. */
  stuckLocks: StuckLock[];
  /** Rows that failed in the last day because every worker that took them died. */
  poisonRows: RowView[];
  /** Queued uploads whose bytes are erased within the hour, and how many seconds of the queue's own clock the first has left. */
  nearTtl: { count: number; firstId: string; secondsLeft: number } | null;
}

export interface StuckLock {
  row: RowView;
  publishedAt: number;
  /** Publishes refused while it held the lock. */
  refused: number;
  reclaimableAt: number;
}

const SAMPLE = 6;
/** So many at most of one queue: then there may be more. */
export const POISON_SAMPLE = SAMPLE;
/** Warned about so long before the end (seconds). */
const TTL_WARNING_SECONDS = 3_600;
const DAY_MS = 86_400_000;

export async function readTrouble(reader: Reader, asOf: number, limits: NowLimits): Promise<Trouble> {
  return { staleRows: await readStale(reader), stuckLocks: await readStuck(reader, limits), poisonRows: await readPoison(reader, asOf), nearTtl: await readNearTtl(reader, limits) };
}

async function readStale(reader: Reader): Promise<RowView[]> {
  const found: RowView[] = [];
  for (const queue of queues) {
    const { rows } = await sql<{ id: string }>`select id from ${tableOf(queue)}
      where ${sql.raw(isHeld(queue))} and lease_expires_at < now() order by lease_expires_at limit ${sql.lit(SAMPLE)}`.execute(reader);
    found.push(...(await selectRows(reader, queue, rows.map((row) => row.id))));
  }
  return found.sort((a, b) => (a.leaseExpiresAt ?? 0) - (b.leaseExpiresAt ?? 0)).slice(0, SAMPLE);
}

async function readStuck(reader: Reader, limits: NowLimits): Promise<StuckLock[]> {
  const { rows: stuck } = await sql<Omit<StuckLock, 'row'> & { id: string }>`
    select d.id, ${ms('d.published_at')} as "publishedAt", ${ms('d.heartbeat_at')} + ${limits.publishDeadAfterSeconds * 1000}::float8 as "reclaimableAt",
      (select count(*)::int from publish_refusals r where r.deployment_id = d.id and r.publish_no = d.publish_no) as refused
    from deployments d where d.state = 'building' and d.heartbeat_at < now() - make_interval(secs => ${limits.publishDeadAfterSeconds})
    order by d.heartbeat_at limit ${sql.lit(SAMPLE)}`.execute(reader);
  const rows = await selectRows(reader, deployments, stuck.map((one) => one.id));
  return stuck.flatMap(({ id, ...lock }) => rows.filter((row) => row.id === id).map((row) => ({ row, ...lock })));
}

async function readPoison(reader: Reader, asOf: number): Promise<RowView[]> {
  const found: RowView[] = [];
  for (const queue of queues) {
    const { rows } = await sql<{ id: string }>`select id from ${tableOf(queue)}
      where state = 'failed' and id >= ${uuidFloor(asOf - 3 * DAY_MS)}::uuid and error_code = 'worker_lost'
        and finished_at > now() - interval '1 day' order by id desc limit ${sql.lit(SAMPLE)}`.execute(reader);
    found.push(...(await selectRows(reader, queue, rows.map((row) => row.id))));
  }
  return found;
}

/** The TTL runs on the queue's own clock (queue_clocks), which stands still while nobody could have done the work. */
async function readNearTtl(reader: Reader, limits: NowLimits): Promise<Trouble['nearTtl']> {
  const { rows } = await sql<{ count: number; firstId: string; secondsLeft: number }>`
    select count(*)::int as count, (array_agg(t.id order by t.staged_clock, t.id))[1] as "firstId",
      min(${limits.stagedBytesTtlSeconds}::float8 - (c.ran_seconds - t.staged_clock)) as "secondsLeft"
    from parse_items t join queue_clocks c on c.queue = 'parse_items'
    where t.state = 'queued' and c.ran_seconds - t.staged_clock > ${limits.stagedBytesTtlSeconds - TTL_WARNING_SECONDS}::float8`.execute(reader);
  const near = rows[0]!;
  return near.count > 0 ? near : null;
}
