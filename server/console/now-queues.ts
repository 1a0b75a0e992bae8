import { sql } from 'kysely';
import type { Capability, QueueDefinition } from '../lease/queues.js';
import { isWaiting } from '../lease/words.js';
import { COUNT_CAP, readOpenCounts } from './queue-page.js';
import type { Percentiles } from './percentiles.js';
import { percentilesOf } from './percentiles.js';
import type { Reader } from './read.js';
import { ms, uuidFloor } from './read.js';
import { tableOf } from './row-select.js';

/** One row of the table on Now. Counts are capped at COUNT_CAP; durations in milliseconds; instants in milliseconds since 1970. */
export interface QueueNow {
  slug: string;
  table: string;
  title: string;
  noun: string;
  capability: Capability;
  awaiting: number;
  queued: number;
  running: number;
  stale: number;
  failedLastHour: number;
  /** Claimable longest: since when. */
  oldestSince: number | null;
  /** Of the closed minutes of the last hour. */
  wait: Percentiles;
  run: Percentiles;
  /** Ended rows a minute, oldest first, the last 60 closed minutes. */
  throughput: number[];
  /** Whether the queue ever had a row. */
  used: boolean;
  paused: { at: number; by: string; reason: string } | null;
  /** It rests because a service outside failed. */
  breaker: { openedAt: number; retryAt: number; failures: number; reason: string } | null;
}

/** A row that fails was enqueued at most this long before (milliseconds); older ones are missing from the hour's count. */
const LONGEST_LIFE_MS = 3 * 86_400_000;
const MINUTES = 60;

export async function readQueueNow(reader: Reader, queue: QueueDefinition, asOf: number): Promise<QueueNow> {
  const { slug, table, title, noun, capability } = queue;
  const open = await readOpenCounts(reader, queue);
  const edges = await readEdges(reader, queue, asOf);
  const hour = await readHour(reader, queue);
  return { slug, table, title, noun, capability, ...open, ...edges, ...hour };
}

type Edges = Pick<QueueNow, 'failedLastHour' | 'oldestSince' | 'used' | 'paused' | 'breaker'>;

async function readEdges(reader: Reader, queue: QueueDefinition, asOf: number): Promise<Edges> {
  const table = tableOf(queue);
  const { rows } = await sql<Edges>`select
    (select count(*)::int from (select 1 from ${table} where state = 'failed' and id >= ${uuidFloor(asOf - LONGEST_LIFE_MS)}::uuid
       and finished_at > now() - interval '1 hour' limit ${sql.lit(COUNT_CAP)}) f) as "failedLastHour",
    (select ${ms('run_after')} from ${table} where ${sql.raw(isWaiting(queue))} and run_after <= now() order by run_after, id limit 1) as "oldestSince",
    exists (select 1 from ${table}) as used,
    (select json_build_object('at', ${ms('paused_at')}, 'by', paused_by, 'reason', reason)
       from queue_pauses where queue = ${queue.table}) as paused,
    (select json_build_object('openedAt', ${ms('opened_at')}, 'retryAt', ${ms('retry_at')}, 'failures', failures, 'reason', reason)
       from breakers where queue = ${queue.table}) as breaker`.execute(reader);
  return rows[0]!;
}

interface Minute {
  ago: number;
  ended: number;
  waits: number[];
  runs: number[];
}

async function readHour(reader: Reader, queue: QueueDefinition): Promise<Pick<QueueNow, 'wait' | 'run' | 'throughput'>> {
  const { rows } = await sql<Minute>`
    select (extract(epoch from date_trunc('minute', now()) - minute) / 60)::int as ago,
      succeeded + failed + cancelled as ended, waits, runs
    from queue_minutes
    where queue = ${queue.table} and minute >= date_trunc('minute', now()) - make_interval(mins => ${MINUTES})`.execute(reader);
  const throughput = new Array<number>(MINUTES).fill(0);
  for (const row of rows) if (row.ago >= 1 && row.ago <= MINUTES) throughput[MINUTES - row.ago] = row.ended;
  return { wait: percentilesOf(rows.map((row) => row.waits)), run: percentilesOf(rows.map((row) => row.runs)), throughput };
}
