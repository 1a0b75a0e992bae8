import { LeaseLostError } from './errors.js';
import type { LeaseKey } from './lease.js';
import type { Queryable } from './pump.js';
import { queueByTable, queues } from './queues.js';
import { isHeld } from './words.js';

/**
 * Locks the row under its token, so that the writes that follow in this transaction are made by the holder or not at all.
 * Must run inside a transaction; the lock lasts until its end. A renewing beat passes over the locked row and tries again (renew.ts), so keep it short.
 * @throws LeaseLostError when the row is not running under this token any more.
 */
export async function fence(tx: Queryable, lease: LeaseKey, registry = queues): Promise<void> {
  const queue = queueByTable(lease.queue, registry);
  if (!queue) throw new Error(`expected the name of a declared queue, got ${lease.queue}`);
  const { rowCount } = await tx.query({
    text: `select 1 from ${queue.table} where id = $1 and ${isHeld(queue)} and lease_token = $2 for update`,
    values: [lease.id, lease.token],
  });
  if (rowCount !== 1) throw new LeaseLostError(lease.queue, lease.id, lease.token, 'the row is not held under this token');
}
