/**
 * The registry of our own processes: each start is one row, identified for ever; redeploys are read off it. A process says its own last
 * word (stopped_at); one that falls silent without it is marked gone by the sweep, and is taken back as alive if it beats again (a frozen
 * process thaws). Nothing here grants or takes a lease: worker_id is a label, never a fence.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from './pump.js';
import type { QueueDefinition } from './queues.js';

/** A process that missed this many of its own beats counts as silent. */
const SILENT_BEATS = 3;

/** web: serves pages. worker: works. inline: the worker inside a web process, which has a row of its own besides that of role web. */
export type ProcessRole = 'web' | 'worker' | 'inline';

export interface ProcessIdentity {
  /** Unique per start. */
  id: string;
  /** WORKER_ID, for people. */
  label: string;
  role: ProcessRole;
  version: string;
  host: string;
  pid: number;
  capabilities: readonly string[];
  /** By queue: the kinds it knows and the highest schema version of each. */
  kinds: Record<string, Record<string, number>>;
  slots: number;
  heartbeatSeconds: number;
}

/** What others have decided about this process, read with each beat. */
export interface ProcessOrders {
  drainedBy: 'shutdown' | 'operator' | null;
}

/** SQL condition: process `w` lives. It has missed fewer than three of its own beats, and has not said its last word. */
export function isLive(w = 'workers'): string {
  return `${w}.stopped_at is null and ${w}.gone_at is null and ${w}.heartbeat_at > now() - ${SILENT_BEATS} * ${w}.heartbeat_seconds * interval '1 second'`;
}

/** SQL condition: process `w` takes work, in a process of its own or inside a web process. */
export function isWorker(w = 'workers'): string {
  return `${w}.role in ('worker', 'inline')`;
}

/** SQL condition: process `w` lives and takes work now. Whether it can take a given row is for its kinds to say (`knows`). */
export function takesWork(w: string): string {
  return `${isLive(w)} and ${w}.draining_since is null`;
}

/** SQL condition: process `w` has announced that it takes the queue's work, and that it knows the kind and schema version of row `t`. */
export function knows(queue: QueueDefinition, w: string, t: string): string {
  return `'${queue.capability}' = any (${w}.capabilities) and coalesce((${w}.kinds -> '${queue.table}' ->> ${t}.kind)::int, 0) >= ${t}.schema_version`;
}

/** Adds this start to the registry and, if its version is new among its role, opens a redeploy. Two statements, needs no transaction. */
export async function registerProcess(db: Queryable, me: ProcessIdentity): Promise<void> {
  await db.query({
    text: `insert into workers (id, label, role, version, host, pid, capabilities, kinds, slots, heartbeat_seconds)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (id) do update set heartbeat_at = now(), gone_at = null`,
    values: [me.id, me.label, me.role, me.version, me.host, me.pid, me.capabilities, JSON.stringify(me.kinds), me.slots, me.heartbeatSeconds],
  });
  await openRedeploy(db, me);
}

/**
 * A redeploy begins when a version beats beside another one of the same role; where all the old ones have already ended, the last one to
 * have started is the version it came from. One open redeploy a role and new version (unique index), whoever sees it first.
 */
async function openRedeploy(db: Queryable, me: ProcessIdentity): Promise<void> {
  await db.query({
    text: `insert into redeploys (id, role, from_version, to_version, started_at)
           select $1, $2, before.version, $3, now()
             from (select version from workers
                    where $2 in ('web', 'worker') and role = $2 and id <> $4 and started_at <= (select started_at from workers where id = $4)
                    order by (${isLive()}) desc, started_at desc limit 1) as before
            where before.version <> $3
              and not exists (select 1 from workers where role = $2 and version = $3 and id <> $4 and ${isLive()})
           on conflict do nothing`,
    values: [uuidv7(), me.role, me.version, me.id],
  });
}

/**
 * What live processes of these roles advertise. One that drains because it is being stopped does not count; one that an operator drained
 * does: its work waits for the operator's decision, and moves nowhere meanwhile. Needs no transaction.
 */
export async function advertised(db: Queryable, roles: readonly ProcessRole[] = ['worker']): Promise<Set<string>> {
  const { rows } = await db.query({
    text: `select distinct unnest(w.capabilities) as capability from workers w
            where w.role = any ($1) and ${isLive('w')} and w.drained_by is distinct from 'shutdown'`,
    values: [roles],
  });
  return new Set(rows.map((row) => row.capability as string));
}

/** One beat. @returns the orders standing for this process; undefined when the row is not there (register again). */
export async function beatProcess(db: Queryable, id: string): Promise<ProcessOrders | undefined> {
  const { rows } = await db.query({
    text: `update workers set heartbeat_at = now(), gone_at = null where id = $1 and stopped_at is null returning drained_by`,
    values: [id],
  });
  return rows[0] && { drainedBy: rows[0].drained_by as ProcessOrders['drainedBy'] };
}

/** Says that this process drains because it is being stopped, and when its budget (seconds) ends. An operator's drain is superseded. */
export async function startShutdownDrain(db: Queryable, id: string, drainSeconds: number): Promise<void> {
  await db.query({
    text: `update workers set draining_since = coalesce(draining_since, now()), drained_by = 'shutdown',
                  kill_deadline_at = now() + $2::double precision * interval '1 second' where id = $1`,
    values: [id, drainSeconds],
  });
}

/** The process's own last word: a clean stop. Idempotent. */
export async function markStopped(db: Queryable, id: string): Promise<void> {
  await db.query({ text: `update workers set stopped_at = coalesce(stopped_at, now()), gone_at = null where id = $1`, values: [id] });
}

/** Part of the sweep: marks processes that fell silent without a last word. @returns how many. */
export async function markSilentGone(tx: Queryable): Promise<number> {
  const { rowCount } = await tx.query({
    text: `update workers set gone_at = now()
            where stopped_at is null and gone_at is null and heartbeat_at <= now() - ${SILENT_BEATS} * heartbeat_seconds * interval '1 second'`,
  });
  return rowCount ?? 0;
}
