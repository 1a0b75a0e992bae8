import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import type { Reader } from './read.js';
import { readOnly, readStamp } from './read.js';
import type { RedeployHead, RolloutProcess } from './redeploy-fleet.js';
import { readRollout } from './redeploy-fleet.js';
import type { LeaseFate, Outcome, ProcessTally, Tally } from './redeploy-leases.js';
import { readFates, readProcessTallies, readTally } from './redeploy-leases.js';
import type { WaitImpact } from './redeploy-waits.js';
import { readWaits } from './redeploy-waits.js';
import type { Stamp } from './row-view.js';

/** One redeploy as the log and the registry of processes tell it. */
export interface RedeployPage extends Stamp {
  redeploy: RedeployHead;
  tally: Tally;
  processes: (RolloutProcess & { tally: ProcessTally })[];
  waits: WaitImpact[];
  fates: LeaseFate[];
  /** Cursor of the next page of fates. */
  next: string | null;
  /** The log begins after the switch (retention): its leases are not known any more. */
  forgotten: boolean;
}

export interface FateFilter {
  outcome: Outcome | 'lost' | null;
  before: string | null;
}

const OUTCOMES = ['finished', 'given_back', 'expired', 'held', 'lost'] as const;
const PAGE = 50;

/** From a URL's query; anything else reads as no filter. */
export function parseFateFilter(query: URLSearchParams): FateFilter {
  const outcome = OUTCOMES.find((known) => known === query.get('outcome')) ?? null;
  const before = query.get('before');
  return { outcome, before: before !== null && /^\d{1,18}$/.test(before) ? before : null };
}

/** Null when there is no such redeploy. `id` is a UUID. Own read-only transaction. @throws ReadTimeoutError */
export function readRedeployPage(kysely: Kysely<DB>, id: string, filter: FateFilter = { outcome: null, before: null }): Promise<RedeployPage | null> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const rollout = await readRollout(reader, id);
    if (!rollout) return null;
    const tallies = await readProcessTallies(reader, rollout);
    const fates = await readFates(reader, rollout, filter.outcome, filter.before, PAGE + 1);
    const shown = fates.slice(0, PAGE);
    return {
      ...stamp, redeploy: rollout.redeploy, tally: await readTally(reader, rollout), waits: await readWaits(reader, rollout),
      processes: rollout.processes.map((process) => ({ ...process, tally: tallies.get(process.id)! })),
      fates: shown, next: fates.length > PAGE ? (shown.at(-1)?.id ?? null) : null, forgotten: await isForgotten(reader, rollout.redeploy),
    };
  });
}

async function isForgotten(reader: Reader, { switchAt }: RedeployHead): Promise<boolean> {
  const { rows } = await sql<{ empty: boolean; reaches: boolean }>`select not exists (select 1 from queue_events) as empty,
    exists (select 1 from queue_events where at <= to_timestamp(${switchAt / 1000}::float8)) as reaches`.execute(reader);
  return !rows[0]!.empty && !rows[0]!.reaches && await hadWork(reader, switchAt);
}

/** A log that begins later is only a gap if there was work before it: the minutes are kept longer than the events. */
async function hadWork(reader: Reader, at: number): Promise<boolean> {
  const { rows } = await sql`select 1 from queue_minutes where minute <= to_timestamp(${at / 1000}::float8) and acquired > 0 limit 1`.execute(reader);
  return rows.length > 0;
}
