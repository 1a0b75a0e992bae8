import { sql } from 'kysely';
import { isLive } from '../lease/processes.js';
import { sameSide } from '../lease/redeploys.js';
import type { Reader } from './read.js';
import { ms } from './read.js';
import { heldByWorker } from './now-fleet.js';
import type { WorkerView } from './workers.js';
import { workerColumns } from './workers.js';

/** A recorded redeploy. `switchAt`: when the old version began to leave. Instants in milliseconds since 1970. */
export interface RedeployHead {
  id: string;
  role: 'web' | 'worker';
  fromVersion: string;
  toVersion: string;
  startedAt: number;
  endedAt: number | null;
  switchAt: number;
}

/**
 * What a process of either side does or did: works on, was drained by an operator (it leaves nothing: resumed, it works on), drains to its end,
 * ended by itself within its time, or fell silent without a last word.
 */
type Leaving = 'working' | 'drained' | 'draining' | 'clean' | 'killed';

export interface RolloutProcess extends WorkerView {
  side: 'outgoing' | 'incoming';
  leaving: Leaving;
  /** From the shutdown's drain to the last word (or, killed, to the last beat), milliseconds; null before. */
  drainedMs: number | null;
  /** The same instants as Postgres wrote them, for statements: microseconds do not survive a JS number. Null unless it was told to shut down. */
  drainFrom: string | null;
  drainUntil: string | null;
}

export interface Rollout {
  redeploy: RedeployHead;
  /** `switchAt` as Postgres wrote it. */
  switchText: string;
  processes: RolloutProcess[];
}

/** A picture of one redeploy, not an archive. */
const MOST_PROCESSES = 200;

/**
 * Who leaves and who comes. A process of the old version leaves with this redeploy if it lived at the switch: when the new version began, or,
 * where all the old ones had ended before it came, when the last of these began to leave (at least a minute before its end, at most an hour).
 */
const ROLLOUT = sql.raw(`
  old as (select w.*, coalesce(w.stopped_at, w.heartbeat_at) as last_sign from workers w, r
           where ${sameSide('w', 'r')} and w.version = r.from_version and w.started_at <= coalesce(r.ended_at, now())),
  last as (select greatest(least(case when drained_by = 'shutdown' then draining_since end, last_sign - interval '1 minute'), last_sign - interval '1 hour') as left_at
             from old order by last_sign desc limit 1),
  switch as (select case when exists (select 1 from old, r where coalesce(old.stopped_at, old.heartbeat_at + 3 * old.heartbeat_seconds * interval '1 second') >= r.started_at)
                         then r.started_at else coalesce((select left_at from last), r.started_at) end as at from r),
  sides as (
    select id, 'outgoing' as side from old, switch where coalesce(old.stopped_at, old.heartbeat_at + 3 * old.heartbeat_seconds * interval '1 second') >= switch.at
    union all
    select w.id, 'incoming' from workers w, r
     where ${sameSide('w', 'r')} and w.version = r.to_version and w.started_at >= r.started_at - interval '10 seconds' and w.started_at <= coalesce(r.ended_at, now()))`);

/** @returns undefined when there is no such redeploy. */
export async function readRollout(reader: Reader, id: string): Promise<Rollout | undefined> {
  const cte = sql`r as (select * from redeploys where id = ${id}::uuid), ${ROLLOUT}`;
  const { rows: [head] } = await sql<RedeployHead & { switchText: string }>`
    with ${cte} select r.id, r.role, r.from_version as "fromVersion", r.to_version as "toVersion", ${ms('r.started_at')} as "startedAt", ${ms('r.ended_at')} as "endedAt",
      ${ms('switch.at')} as "switchAt", switch.at::text as "switchText" from r, switch`.execute(reader);
  if (!head) return undefined;
  const { rows: processes } = await sql<RolloutProcess>`
    with ${cte} select s.side, ${workerColumns()}, ${sql.raw(leaving('w'))} as leaving,
      case when w.drained_by = 'shutdown' and ${sql.raw(leaving('w'))} in ('clean', 'killed') then ${ms("(coalesce(w.stopped_at, w.heartbeat_at) - w.draining_since)")} end as "drainedMs",
      case when w.drained_by = 'shutdown' then greatest(w.draining_since, switch.at - interval '1 hour')::text end as "drainFrom",
      case when w.drained_by = 'shutdown' then coalesce(w.stopped_at, least(now(), w.kill_deadline_at + interval '1 minute'))::text end as "drainUntil"
    from sides s join workers w on w.id = s.id cross join switch left join (${heldByWorker()}) h on h.worker_id = w.id
    order by s.side desc, w.started_at, w.id limit ${sql.lit(MOST_PROCESSES)}`.execute(reader);
  const { switchText, ...redeploy } = head;
  return { redeploy, switchText, processes };
}

/** A process past three of its beats without a last word counts as killed, also before the sweep says so. */
function leaving(w: string): string {
  return `case when ${w}.stopped_at is not null then 'clean' when not (${isLive(w)}) then 'killed' when ${w}.drained_by = 'shutdown' then 'draining' when ${w}.drained_by = 'operator' then 'drained' else 'working' end`;
}
