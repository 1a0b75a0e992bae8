/**
 * Wakes workers. Sent inside the caller's transaction, so it arrives if and only if the rows it speaks of are there, and after they
 * are. A crash before the commit loses both; a lost notification loses time until the next poll, never work.
 */
import { encode, type KickMessage } from './topics.js';

/** One statement whatever the number of payloads; Postgres itself drops repeats within a transaction. */
export const NOTIFY_SQL = 'select pg_notify($1, payload) from unnest($2::text[]) as payload';

interface Sender {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/**
 * Call within the transaction that enqueues, gives back, cancels, drains or resumes. Costs one round trip and makes the commit take
 * the server-wide notify lock: once a transaction, never once a row.
 * @throws what the connection throws; the transaction is then lost anyway.
 */
export async function kick(tx: Sender, channels: { kickChannel: string }, message: KickMessage): Promise<void> {
  const payloads = encode(message);
  if (payloads.length > 0) await tx.query(NOTIFY_SQL, [channels.kickChannel, payloads]);
}
