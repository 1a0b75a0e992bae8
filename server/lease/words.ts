/**
 * How a queue spells the three moments of a lease. Almost every queue says queued → running → succeeded; a queue whose row is itself a lock
 * (deployments) stays in one state while it waits and while a worker drives it, and its columns tell the two apart. Everything here is SQL
 * text from the registry, never from outside; for a queue without words of its own it is the text that the partial indexes were made for.
 */
import type { QueueDefinition } from './queues.js';

export interface StateWords {
  waiting: string;
  held: string;
  done: string;
  /** The row outlives its leases as a lock: it keeps its last beat when a lease ends, and the sweep only detaches a dead worker. */
  lock: true;
}

const QUEUE_WORDS = { waiting: 'queued', held: 'running', done: 'succeeded' } as const;

export function wordsOfQueue(queue: QueueDefinition): Omit<StateWords, 'lock'> {
  return queue.words ?? QUEUE_WORDS;
}

/** True of a row that a worker holds. `t`: the table's alias, if it has one. */
export function isHeld(queue: QueueDefinition, t?: string): string {
  const dot = t ? `${t}.` : '';
  return queue.words ? `${dot}state = '${queue.words.held}' and ${dot}worker_id is not null` : `${dot}state = 'running'`;
}

/** True of a row that waits for a worker. */
export function isWaiting(queue: QueueDefinition, t?: string): string {
  const dot = t ? `${t}.` : '';
  return queue.words ? `${dot}state = '${queue.words.waiting}' and ${dot}worker_id is null` : `${dot}state = 'queued'`;
}

/** True of a row that a worker may take: a lock is also taken over from a worker whose lease has run out, without waiting for the sweep. */
export function isClaimable(queue: QueueDefinition): string {
  return queue.words ? `state = '${queue.words.waiting}' and (worker_id is null or lease_expires_at < now())` : `state = 'queued'`;
}

/** The states in which a row has ended, as a list for IN. */
export function endedStates(queue: QueueDefinition): string {
  return queue.words ? `('${queue.words.done}', 'failed')` : `('succeeded', 'failed', 'cancelled')`;
}
