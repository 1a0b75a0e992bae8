import { sql } from 'kysely';
import type { Percentiles } from './percentiles.js';
import { percentilesOf } from './percentiles.js';
import { queuesInOrder } from './queue-of-url.js';
import type { Reader } from './read.js';
import type { Rollout } from './redeploy-fleet.js';

/** Waits before a worker took a row (milliseconds), of the closed minutes; and how many rows were taken in them. */
export interface WaitImpact {
  slug: string;
  title: string;
  before: Percentiles & { taken: number };
  during: Percentiles & { taken: number };
}

/**
 * What the roll cost those who waited: from the minute of the switch to its end, against the hour before. From the minute samples, so a
 * percentile is off by at most a quarter; queues in which nothing was taken in either are left out.
 */
export async function readWaits(reader: Reader, { redeploy, switchText }: Rollout): Promise<WaitImpact[]> {
  const { rows } = await sql<{ queue: string; during: boolean; acquired: number; waits: number[] }>`
    select m.queue, m.minute >= date_trunc('minute', s.at) as during, m.acquired, m.waits
    from queue_minutes m, (select ${switchText}::timestamptz as at, coalesce((select ended_at from redeploys where id = ${redeploy.id}::uuid), now()) as until) s
    where m.minute >= date_trunc('minute', s.at) - interval '1 hour' and m.minute <= s.until`.execute(reader);
  const of = (table: string, during: boolean) => {
    const mine = rows.filter((row) => row.queue === table && row.during === during);
    return { ...percentilesOf(mine.map((row) => row.waits)), taken: mine.reduce((sum, row) => sum + row.acquired, 0) };
  };
  return queuesInOrder().map(({ slug, title, table }) => ({ slug, title, before: of(table, false), during: of(table, true) }))
    .filter(({ before, during }) => before.taken + during.taken > 0);
}
