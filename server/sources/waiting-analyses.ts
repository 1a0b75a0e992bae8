import type pg from 'pg';
import { kick } from '../bus/kick.js';
import { analysisJobs } from '../lease/queues.js';
import type { SessionKey } from './source-chunks.js';

/**
 * An upload of this session has been parsed: analyses that wait for it may look again at once. Belongs in the transaction that ends the
 * upload's work. Losing it costs an analysis a few seconds, since it looks by itself.
 */
export async function wakeAnalyses(tx: pg.PoolClient, { userId, sessionId }: SessionKey, kickChannel: string | undefined): Promise<void> {
  const { rowCount } = await tx.query(
    `update ${analysisJobs.table} set run_after = now(), version = version + 1 where user_id = $1 and session_id = $2 and state = 'queued' and run_after > now()`, [userId, sessionId]);
  if (rowCount && kickChannel) await kick(tx, { kickChannel }, { q: analysisJobs.table, low: true });
}
