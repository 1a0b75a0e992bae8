import { sql } from 'kysely';
import { queues } from '../lease/queues.js';
import { isHeld } from '../lease/words.js';
import type { NowLimits } from './now.js';
import type { Reader } from './read.js';
import { uuidFloor } from './read.js';
import { selectRows, tableOf } from './row-select.js';
import type { RowView } from './row-view.js';

/** What may need a person. Rows are a sample; the page says how many more there are from the counts. */
export interface Trouble {
  staleRows: RowView[];
  /** Rows that failed in the last day because every worker that took them died. */
  poisonRows: RowView[];
  /** Queued uploads whose bytes are erased within the hour, and how many seconds of the queue's own clock the first has left. */
  nearTtl: { count: number; firstId: string; secondsLeft: number } | null;
}

const SAMPLE = 6;
/** Warned about so long before the end (seconds). */
const TTL_WARNING_SECONDS = 3_600;
const DAY_MS = 86_400_000;

export async function readTrouble(reader: Reader, asOf: number, limits: NowLimits): Promise<Trouble> {
  return { staleRows: await readStale(reader), poisonRows: await readPoison(reader, asOf), nearTtl: await readNearTtl(reader, limits) };
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
