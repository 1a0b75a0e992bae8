import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { QueueDefinition } from '../lease/queues.js';
import { LIVE } from './now-fleet.js';
import { percentilesOf } from './percentiles.js';
import type { Reader } from './read.js';
import { ms } from './read.js';
import { tableOf } from './row-select.js';

/** What decides when a queue's rows move. Instants in milliseconds since 1970 on the database clock. */
export interface Outlook {
  pausedAt: number | null;
  /** It rests until then because a service outside failed. */
  restsUntil: number | null;
  /** Live workers that take this kind of work, those that drain left out. */
  capableWorkers: number;
  nextSweepAt: number | null;
}

export async function readOutlook(reader: Reader, queue: QueueDefinition): Promise<Outlook> {
  const { rows } = await sql<Outlook>`select
    (select ${ms('paused_at')} from queue_pauses where queue = ${queue.table}) as "pausedAt",
    (select ${ms('retry_at')} from breakers where queue = ${queue.table} and retry_at > now()) as "restsUntil",
    (select count(*)::int from workers w where ${sql.raw(LIVE)} and w.draining_since is null and ${queue.capability} = any(w.capabilities)) as "capableWorkers",
    (select ${ms(`last_run_at + interval_seconds * interval '1 second'`)} from sweeps) as "nextSweepAt"`.execute(reader);
  return rows[0]!;
}

/** Where counting stops: nobody's wait is told more precisely. */
export const AHEAD_CAP = 1_001;

/** Due rows of others that the queue offers before the first of `own` (SQL over the queue's columns): it takes the oldest run_after first. */
export async function countAhead(reader: Reader, queue: QueueDefinition, own: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    with first as (select run_after, id from ${tableOf(queue)} where state = 'queued' and ${own} order by run_after, id limit 1)
    select count(*)::int as n from (select 1 from ${tableOf(queue)} r, first
      where r.state = 'queued' and r.run_after <= now() and (r.run_after, r.id) < (first.run_after, first.id) limit ${sql.lit(AHEAD_CAP)}) ahead`.execute(reader);
  return rows[0]!.n;
}

export interface OtherReports {
  /** Reports of others whose citations are being checked just now. */
  others: number;
  /** Citations of this user's other reports that are being checked just now. */
  own: number;
}

/** Whose citations hold the places: the queue shares them among users, so the order of the rows alone says nothing. Walks the running rows. */
export async function countOtherReports(reader: Reader, jobId: string, userId: string): Promise<OtherReports> {
  const { rows } = await sql<OtherReports>`
    select count(distinct job_id) filter (where user_id <> ${userId})::int as others, count(*) filter (where user_id = ${userId})::int as own
    from job_citations where state = 'running' and job_id <> ${jobId}::uuid`.execute(reader);
  return rows[0]!;
}

/**
 * The minute samples of a queue, added up: of the last hour or, if those are fewer than `least`, of the last day; null if those are too few as
 * well. Nothing here reads the raw events.
 */
export async function readHistogram(reader: Reader, queue: QueueDefinition, column: 'waits' | 'runs', least: number): Promise<number[] | null> {
  for (const minutes of [60, 24 * 60]) {
    const { rows } = await sql<{ counts: number[] | null }>`
      select array_agg(n order by bucket)::int[] as counts from (
        select bucket, sum(n) as n from queue_minutes, unnest(${sql.ref(column)}) with ordinality as b(n, bucket)
        where queue = ${queue.table} and minute >= date_trunc('minute', now()) - make_interval(mins => ${sql.lit(minutes)}) group by bucket) summed`.execute(reader);
    const counts = rows[0]?.counts ?? [];
    if (counts.reduce((sum, n) => sum + n, 0) >= least) return counts;
  }
  return null;
}

/** Fewer finished runs than this are no usual. */
export const USUAL_BASIS = 20;

/** The usual 95th percentile of a queue's run time (milliseconds); null without a basis. */
export async function readUsualP95(reader: Reader, queue: QueueDefinition): Promise<number | null> {
  const runs = await readHistogram(reader, queue, 'runs', USUAL_BASIS);
  return runs && percentilesOf([runs]).p95;
}
