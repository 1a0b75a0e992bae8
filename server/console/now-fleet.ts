import { sql } from 'kysely';
import { isLive, takesWork } from '../lease/processes.js';
import { queues } from '../lease/queues.js';
import { isHeld } from '../lease/words.js';
import type { Reader } from './read.js';
import { ms } from './read.js';
import { tableOf } from './row-select.js';

/** The live worker processes of one version. */
export interface VersionNow {
  version: string;
  live: number;
  /** Being stopped. */
  draining: number;
  /** By an operator: they live on and take nothing until they are resumed. A web process of an older version, which may feed a newer page while it rolls, does not say. */
  drained?: number;
  leases: number;
  /** The earliest kill deadline among those that drain for a shutdown. */
  killDeadlineAt: number | null;
}

export interface FleetNow {
  versions: VersionNow[];
  /** Capabilities that some live process takes work for now. */
  capabilities: string[];
  /** Capabilities of live processes that an operator drained: resumed, they take this work. An older version does not say. */
  drainedCapabilities?: string[];
  sweep: { lastRunAt: number | null; intervalSeconds: number };
  /** A redeploy of the workers that has not ended. */
  redeploy: { fromVersion: string; toVersion: string; startedAt: number } | null;
}

/** Of process `w`. */
export const LIVE = isLive('w');

export async function readFleet(reader: Reader): Promise<FleetNow> {
  const { rows: versions } = await sql<VersionNow>`
    select w.version, count(*) filter (where w.draining_since is null)::int as live,
      count(*) filter (where w.drained_by = 'shutdown')::int as draining, count(*) filter (where w.drained_by = 'operator')::int as drained,
      coalesce(sum(h.leases), 0)::int as leases, ${ms('min(w.kill_deadline_at)')} as "killDeadlineAt"
    from workers w left join (${heldByWorker()}) h on h.worker_id = w.id
    where w.role = 'worker' and ${sql.raw(LIVE)}
    group by w.version order by min(w.started_at)`.execute(reader);
  const { rows } = await sql<Omit<FleetNow, 'versions'>>`select
    array(select distinct unnest(w.capabilities) from workers w where ${sql.raw(takesWork('w'))}) as capabilities,
    array(select distinct unnest(w.capabilities) from workers w where ${sql.raw(LIVE)} and w.drained_by = 'operator') as "drainedCapabilities",
    (select json_build_object('lastRunAt', ${ms('last_run_at')}, 'intervalSeconds', interval_seconds::float8) from sweeps) as sweep,
    (select json_build_object('fromVersion', from_version, 'toVersion', to_version, 'startedAt', ${ms('started_at')})
       from redeploys where role = 'worker' and ended_at is null order by started_at desc limit 1) as redeploy`.execute(reader);
  return { versions, ...rows[0]! };
}

/** Leases held now, by worker, over every queue: walks the small partial indexes of running rows. */
export function heldByWorker() {
  const held = queues.map((queue) => sql`select worker_id from ${tableOf(queue)} where ${sql.raw(isHeld(queue))}`);
  return sql`select worker_id, count(*)::int as leases from (${sql.join(held, sql` union all `)}) held group by worker_id`;
}
