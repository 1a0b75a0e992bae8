/** A leased row as an operator's answer speaks of it: who holds it, since when, how long it is silent, who touched it last. */
import type { Queryable } from '../lease/pump.js';
import { queueByTable, type QueueDefinition } from '../lease/queues.js';
import type { Snapshot } from './action.js';
import { spell } from './spell.js';

/** Seconds are ages on the database clock (`leaseLeft` counts down and goes below zero). */
export interface RowNow extends Snapshot {
  state: string;
  token: string;
  version: number;
  attempt: number;
  lostLeases: number;
  worker: string | null;
  workerVersion: string | null;
  leaseLeft: number | null;
  silent: number | null;
  held: number | null;
  ended: number | null;
  errorCode: string | null;
}

/**
 * Reads and locks the row until the transaction ends, so that what is said of it is what was judged. Without the lock for a parent whose children
 * are locked next (the lock order). @returns undefined when there is no such row.
 */
export async function readRowNow(tx: Queryable, queue: QueueDefinition, id: string, { lock = true } = {}): Promise<{ row: RowNow; owner: { userId: string; sessionId?: string } } | undefined> {
  const { rows } = await tx.query({
    text: `select t.state, t.lease_token::text as token, t.version::float8 as version, t.attempt, t.lost_leases as "lostLeases",
                  case when t.worker_id is not null then coalesce((select label from workers where id = t.worker_id), t.worker_id) end as worker,
                  (select version from workers where id = t.worker_id) as "workerVersion",
                  ${secondsUntil('t.lease_expires_at')} as "leaseLeft", ${secondsSince('t.heartbeat_at')} as silent,
                  case when t.worker_id is not null then ${secondsSince('t.claimed_at')} end as held, ${secondsSince('t.finished_at')} as ended,
                  t.error_code as "errorCode", t.user_id as "userId"${queue.listColumns.includes('session_id') ? ', t.session_id as "sessionId"' : ''}
             from ${queue.table} t where t.id = $1${lock ? ' for update of t' : ''}`,
    values: [id],
  });
  if (!rows[0]) return undefined;
  const { userId, sessionId, ...row } = rows[0] as unknown as RowNow & { userId: string; sessionId?: string };
  return { row, owner: { userId, ...(sessionId === undefined ? {} : { sessionId }) } };
}

/** SQL text: seconds since an instant, by the database's clock. */
export function secondsSince(instant: string): string {
  return `round(extract(epoch from clock_timestamp() - ${instant})::numeric, 1)::float8`;
}

function secondsUntil(instant: string): string {
  return `round(extract(epoch from ${instant} - clock_timestamp())::numeric, 1)::float8`;
}

/** `worker-2 (v1.4)`, or who is meant when nobody holds it. */
export function holderOf({ worker, workerVersion }: Snapshot): string {
  return worker === null || worker === undefined ? 'no worker' : `${String(worker)}${workerVersion ? ` (${String(workerVersion)})` : ''}`;
}

/** ` by NAME, 12 s ago`, when it is known who did it. */
export function byWhom({ firstBy, firstAgo }: Snapshot): string {
  return typeof firstBy === 'string' ? ` by ${firstBy}${typeof firstAgo === 'number' ? `, ${spell(firstAgo)} ago` : ''}` : '';
}

/** The action whose audit row names the person behind a transition, by the transition's cause. */
const PERSONS: Readonly<Record<string, readonly string[]>> = {
  release: ['release'], force_release: ['force_release'], cancel: ['cancel'], clear: ['clear_lock'], rekick: ['rekick'],
};
const SWEEPS = ['sweep', 'detach', 'poison', 'expire', 'reconcile'];

interface Moved extends Snapshot {
  cause: string;
  worker: string | null;
  version: string | null;
  parent: string | null;
  firstAgo: number;
}

/**
 * Who brought the row to where it is now, and when: a person, a worker with its version, the sweep, a publish. Reads its last transition; lock
 * the row first, so that it is the last. Words for whoever came second: `firstBy`, `firstAgo` (seconds), `how` (its cause).
 */
export async function whoMoved(tx: Queryable, queue: QueueDefinition, id: string): Promise<Snapshot> {
  const moved = await lastMove(tx, id);
  if (!moved) return {};
  return { firstBy: await mover(tx, queue, id, moved), firstAgo: moved.firstAgo, how: moved.cause };
}

async function lastMove(tx: Queryable, id: string): Promise<Moved | undefined> {
  const { rows } = await tx.query({
    text: `select e.cause, coalesce(w.label, e.worker_id) as worker, coalesce(e.worker_version, w.version) as version, e.parent_id as parent, ${secondsSince('e.at')} as "firstAgo"
             from queue_events e left join workers w on w.id = e.worker_id where e.row_id = $1 and e.to_state is not null order by e.id desc limit 1`,
    values: [id],
  });
  return rows[0] as Moved | undefined;
}

async function mover(tx: Queryable, queue: QueueDefinition, id: string, { cause, worker, version, parent }: Moved): Promise<string | null> {
  const by = PERSONS[cause];
  if (by) return personBehind(tx, parent === null ? [id] : [id, parent], by);
  if (SWEEPS.includes(cause)) return 'the sweep';
  if (cause === 'children') return lastChildsMover(tx, queue, id);
  if (cause === 'publish' || cause === 'reclaim') return publisher(tx, id);
  return worker === null ? null : holderOf({ worker, workerVersion: version });
}

/** A part is cancelled and queued again with its parent, by the action on the parent. */
async function personBehind(tx: Queryable, targets: readonly string[], by: readonly string[]): Promise<string | null> {
  const { rows } = await tx.query({
    text: `select actor_name from operator_actions where target_id = any ($1) and outcome = 'applied' and action = any ($2) order by id desc limit 1`, values: [targets, by],
  });
  return (rows[0]?.actor_name as string | undefined) ?? null;
}

async function lastChildsMover(tx: Queryable, queue: QueueDefinition, id: string): Promise<string | null> {
  if (!queue.children) return null;
  const { rows } = await tx.query({ text: `select id from ${queue.children.queue} where ${queue.children.column} = $1 order by finished_at desc nulls last limit 1`, values: [id] });
  const child = rows[0]?.id as string | undefined;
  const moved = child === undefined ? undefined : await lastMove(tx, child);
  return moved ? mover(tx, queueByTable(queue.children.queue)!, child!, moved) : null;
}

/** As the publish called itself. */
async function publisher(tx: Queryable, id: string): Promise<string | null> {
  const { rows } = await tx.query({ text: `select requested_by as by, source from deployment_attempts where deployment_id = $1 order by publish_no desc limit 1`, values: [id] });
  if (!rows[0]) return null;
  return `a publish from ${String(rows[0].by)}${rows[0].source === null ? '' : ` (${String(rows[0].source)})`}`;
}

export function finished(facts: Snapshot): string {
  return `It has ended meanwhile: ${endedHow(facts)}. Nothing was changed, and nothing needs to be.`;
}

/** `succeeded by worker-2 (v4), 3 s ago` · `failed with no_text by …`. */
export function endedHow({ state, errorCode, firstBy, ended }: Snapshot): string {
  const code = typeof errorCode === 'string' && errorCode !== state ? ` with ${errorCode}` : '';
  return `${String(state)}${code}${typeof firstBy === 'string' ? ` by ${firstBy}` : ''}, ${ago(ended)}`;
}

export function ago(value: unknown): string {
  return typeof value === 'number' ? `${spell(value)} ago` : 'just now';
}
