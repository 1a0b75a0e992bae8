/**
 * Minute samples: counts and histograms of waiting and running time, rolled up from queue_events once a minute is closed. What the console
 * shows of the last hour, the metrics and the estimates read these; nothing reads raw events over a range of time.
 */
import type { Queryable } from './pump.js';

/** Upper bounds of the histogram buckets in milliseconds: 1 ms × 1.5^k up to about two hours, so a percentile is off by at most a quarter. */
export const BUCKET_BOUNDS_MS: readonly number[] = Array.from({ length: 40 }, (_, k) => Math.round(1.5 ** k)).filter((bound, k, all) => k === 0 || bound !== all[k - 1]);

/** A transaction may still commit events for a minute that has just ended: engine transactions end within 10 s of idling. */
const CLOSED_AFTER_SECONDS = 15;
/** Events older than this at the first roll-up (a long outage of the sweep) are left to the raw log. */
const LOOK_BACK = '2 days';

/** Rolls up every closed minute since the last one. Idempotent; part of the sweep's transaction. */
export async function rollUpMinutes(tx: Queryable): Promise<void> {
  await tx.query({
    text: `with range as (
        select greatest(coalesce((select max(minute) + interval '1 minute' from queue_minutes), (select date_trunc('minute', min(at)) from queue_events)),
                        date_trunc('minute', now()) - interval '${LOOK_BACK}') as since,
               date_trunc('minute', now() - interval '${CLOSED_AFTER_SECONDS} seconds') as until),
      events as materialized (
        select e.queue, date_trunc('minute', e.at) as minute, e.from_state, e.to_state, e.cause, e.waited_ms, e.ran_ms
          from queue_events e, range r where e.at >= r.since and e.at < r.until),
      buckets as (
        select queue, minute, kind, width_bucket(ms, $1::int[]) as bucket, count(*)::int as n
          from (select queue, minute, 'wait' as kind, waited_ms as ms from events where cause = 'acquire' and waited_ms is not null
                union all
                select queue, minute, 'run', ran_ms from events where cause in ('succeed', 'fail') and ran_ms is not null) as measured
         group by 1, 2, 3, 4),
      counts as (
        select queue, minute,
               count(*) filter (where cause in ('enqueue', 'publish', 'reclaim'))::int as enqueued, count(*) filter (where cause = 'acquire')::int as acquired,
               count(*) filter (where to_state in ('succeeded', 'live'))::int as succeeded, count(*) filter (where to_state = 'failed')::int as failed,
               count(*) filter (where to_state = 'cancelled')::int as cancelled,
               count(*) filter (where cause in ('drain', 'unstarted', 'release', 'force_release', 'answer_lost'))::int as given_back,
               count(*) filter (where cause in ('sweep', 'detach', 'poison'))::int as lost, count(*) filter (where cause = 'late_write')::int as late_writes
          from events group by 1, 2)
      insert into queue_minutes (queue, minute, enqueued, acquired, succeeded, failed, cancelled, given_back, lost, late_writes, waits, runs)
      select c.queue, c.minute, c.enqueued, c.acquired, c.succeeded, c.failed, c.cancelled, c.given_back, c.lost, c.late_writes,
             ${histogram('wait')}, ${histogram('run')}
        from counts c
      on conflict (queue, minute) do nothing`,
    values: [BUCKET_BOUNDS_MS],
  });
}

function histogram(kind: 'wait' | 'run'): string {
  return `array(select coalesce((select b.n from buckets b where b.queue = c.queue and b.minute = c.minute and b.kind = '${kind}' and b.bucket = i), 0)
                  from generate_series(0, ${BUCKET_BOUNDS_MS.length}) as i order by i)`;
}

/** Adds histograms (as stored in queue_minutes) bucket by bucket. */
export function addHistograms(histograms: readonly (readonly number[])[]): number[] {
  const sum = new Array<number>(BUCKET_BOUNDS_MS.length + 1).fill(0);
  for (const histogram of histograms) histogram.forEach((count, bucket) => (sum[bucket] = (sum[bucket] ?? 0) + count));
  return sum;
}

/**
 * The q-quantile (0..1) of a histogram in milliseconds, interpolated within its bucket; null when it is empty. Bucket i holds the values
 * v with bounds[i-1] <= v < bounds[i] (Postgres's width_bucket); the open last bucket answers its lower bound.
 */
export function percentile(histogram: readonly number[], q: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = q * total;
  let before = 0;
  for (const [bucket, count] of histogram.entries()) {
    if (count > 0 && before + count >= rank) return withinBucket(bucket, (rank - before) / count);
    before += count;
  }
  return BUCKET_BOUNDS_MS.at(-1)!;
}

function withinBucket(bucket: number, share: number): number {
  const lower = bucket === 0 ? 0 : BUCKET_BOUNDS_MS[bucket - 1]!;
  const upper = BUCKET_BOUNDS_MS[bucket] ?? lower;
  return lower + (upper - lower) * Math.max(0, Math.min(1, share));
}
