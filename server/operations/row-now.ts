/** A leased row as an operator's answer speaks of it: who holds it, since when, how long it is silent, who touched it last. */
import type { Queryable } from '../lease/pump.js';
import type { QueueDefinition } from '../lease/queues.js';
import type { Snapshot } from './action.js';
import { whoWasFirst } from './audit.js';
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

function secondsSince(instant: string): string {
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

/** Which worker or person ended the row: the words of `finished`. */
export async function whoEnded(tx: Queryable, id: string): Promise<Snapshot> {
  const { rows } = await tx.query({
    text: `select coalesce(w.label, e.worker_id) as "firstBy" from queue_events e left join workers w on w.id = e.worker_id
            where e.row_id = $1 and e.to_state is not null and e.cause <> 'cancel' order by e.id desc limit 1`,
    values: [id],
  });
  const { firstBy } = await whoWasFirst(tx, id, ['cancel', 'clear_lock']);
  return { firstBy: firstBy ?? (rows[0]?.firstBy as string | null | undefined) ?? null };
}

export function finished(facts: Snapshot): string {
  return `It has ended meanwhile (${String(facts.state)}${byWhom({ firstBy: facts.firstBy ?? null })}, ${ago(facts.ended)}). Nothing was changed, and nothing needs to be.`;
}

export function ago(value: unknown): string {
  return typeof value === 'number' ? `${spell(value)} ago` : 'just now';
}
