import { sql } from 'kysely';
import { takesWork } from '../lease/processes.js';
import type { Capability } from '../lease/queues.js';
import type { Reader } from './read.js';
import type { RedeployHead, RolloutProcess } from './redeploy-fleet.js';
import { readRollout } from './redeploy-fleet.js';
import type { Tally } from './redeploy-leases.js';
import { readTally } from './redeploy-leases.js';

/** A redeploy while it rolls. Counts are those of the page's own snapshot. */
export interface DrainBoard {
  redeploy: RedeployHead;
  tally: Tally;
  processes: RolloutProcess[];
  /** Leases that the old version holds now, draining or not. */
  oldHolds: number;
  newHolds: number;
  /** What only the old version takes: when it is gone, nobody does. What an operator drained takes nothing. */
  onlyOld: Capability[];
}

/** More than two roles cannot roll at once, except where versions follow faster than they leave. */
const MOST_BOARDS = 4;

/** Newest first; cheap when nothing rolls. */
export async function readDrainBoards(reader: Reader): Promise<DrainBoard[]> {
  const { rows } = await sql<{ id: string }>`select id from redeploys where ended_at is null order by started_at desc limit ${sql.lit(MOST_BOARDS)}`.execute(reader);
  const boards: DrainBoard[] = [];
  for (const { id } of rows) {
    const rollout = (await readRollout(reader, id))!; // the same snapshot has just named it
    const holds = (side: RolloutProcess['side']) => rollout.processes.filter((process) => process.side === side).reduce((sum, { leases }) => sum + leases, 0);
    boards.push({ redeploy: rollout.redeploy, tally: await readTally(reader, rollout), processes: rollout.processes, oldHolds: holds('outgoing'), newHolds: holds('incoming'), onlyOld: await readOnlyOld(reader, rollout.processes) });
  }
  return boards;
}

async function readOnlyOld(reader: Reader, processes: readonly RolloutProcess[]): Promise<Capability[]> {
  const outgoing = processes.filter(({ side }) => side === 'outgoing');
  const live = outgoing.filter(({ leaving }) => leaving === 'working' || leaving === 'draining');
  const { rows } = await sql<{ others: string[] }>`select array(select distinct unnest(w.capabilities) from workers w
    where ${sql.raw(takesWork('w'))} and w.id <> all(${outgoing.map(({ id }) => id)}::text[])) as others`.execute(reader);
  const ending = new Set(live.flatMap(({ capabilities }) => capabilities as Capability[]));
  return [...ending].filter((capability) => !rows[0]!.others.includes(capability)).sort();
}
