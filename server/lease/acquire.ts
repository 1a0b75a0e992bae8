import { pump, type Holder, type Queryable } from './pump.js';
import type { Lease } from './lease.js';
import { queues, type QueueDefinition } from './queues.js';

/**
 * Claims up to `limit` rows that are queued, due, of a known kind and in a queue that is not paused, oldest `run_after` first.
 * One statement, its own transaction; rows locked by others are passed over. The lease runs `holder.leaseSeconds` from the database's now().
 * @throws when the statement took more rows than asked for (a broken plan), or on connection loss: then rows may be held that nobody
 * knows of, and giveBackUnknown() returns them.
 */
export async function acquire(db: Queryable, queue: QueueDefinition, holder: Holder, limit: number, registry = queues): Promise<Lease[]> {
  return (await pump(db, queue, holder, { endings: [], claim: limit }, registry)).claimed;
}
