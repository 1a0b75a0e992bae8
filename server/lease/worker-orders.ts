/**
 * What an operator orders of a worker, also of one inside a web process, and of a queue. A drained worker gives its leases back and idles until it is resumed; a paused
 * queue hands out nothing (the claim statement looks). Each is one conditional statement: zero rows (undefined, false) means that its guard
 * did not hold. The worker learns of its order by the kick, at the latest with its next beat.
 */
import { isLive, isWorker } from './processes.js';
import type { Queryable } from './pump.js';

/** Kick `{ drain: id }` in the same transaction. */
export async function orderDrain(tx: Queryable, workerId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `update workers set draining_since = now(), drained_by = 'operator' where id = $1 and ${isWorker()} and ${isLive()} and draining_since is null`, values: [workerId],
  });
  return rowCount === 1;
}

/** Only a drain that an operator ordered can be taken back. Kick `{ resume: id }` in the same transaction. */
export async function orderResume(tx: Queryable, workerId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `update workers set draining_since = null, drained_by = null where id = $1 and ${isLive()} and drained_by = 'operator'`, values: [workerId],
  });
  return rowCount === 1;
}

/** Whether an operator's drain of this process stands, as the registry knows it: the process itself may not have heard yet. Needs no transaction. */
export async function isDrained(db: Queryable, workerId: string): Promise<boolean> {
  const { rowCount } = await db.query({ text: `select 1 from workers where id = $1 and drained_by = 'operator'`, values: [workerId] });
  return rowCount === 1;
}

export interface Pause {
  by: string;
  reason: string;
  /** How long it has been paused, in seconds on the database clock. */
  seconds: number;
}

/** @returns false when it is paused already. What is held goes on; nothing more is claimed. */
export async function pauseQueue(tx: Queryable, table: string, by: string, reason: string): Promise<boolean> {
  const { rowCount } = await tx.query({ text: `insert into queue_pauses (queue, paused_by, reason) values ($1, $2, $3) on conflict do nothing`, values: [table, by, reason] });
  return rowCount === 1;
}

/** @returns the pause that was ended. Kick `{ q, low }` in the same transaction. */
export async function resumeQueue(tx: Queryable, table: string): Promise<Pause | undefined> {
  const { rows } = await tx.query({
    text: `delete from queue_pauses where queue = $1 returning paused_by as by, reason, extract(epoch from now() - paused_at)::float8 as seconds`, values: [table],
  });
  return rows[0] as unknown as Pause | undefined;
}

export async function readPause(tx: Queryable, table: string): Promise<Pause | undefined> {
  const { rows } = await tx.query({
    text: `select paused_by as by, reason, extract(epoch from now() - paused_at)::float8 as seconds from queue_pauses where queue = $1`, values: [table],
  });
  return rows[0] as unknown as Pause | undefined;
}
