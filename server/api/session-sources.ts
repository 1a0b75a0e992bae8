/**
 * The user's two resets: all sources of a session, or one document of it. The only places that unlink a source, and never while an analysis of
 * that session runs. The documents stay the user's; foreign, unknown and malformed ids alike unlink nothing.
 */
import type pg from 'pg';
import { isUuid, readId } from './ids.js';
import { Problem } from './problem.js';
import { withUserLock } from './user-lock.js';

export interface Reset {
  userId: unknown;
  sessionId: unknown;
  /** Absent: all of them. */
  documentId?: string;
}

export async function unlinkSources(pool: pg.Pool, reset: Reset): Promise<{ unlinked: number }> {
  const [userId, sessionId] = [readId(reset.userId, 'userId'), readId(reset.sessionId, 'sessionId')];
  if (reset.documentId !== undefined && !isUuid(reset.documentId)) return { unlinked: 0 };
  return withUserLock(pool, userId, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `select id from analysis_jobs where user_id = $1 and session_id = $2 and state in ('awaiting', 'queued', 'running') order by id limit 1`, [userId, sessionId]);
    if (rows[0]) throw running(rows[0].id);
    const { rowCount } = await tx.query(
      'delete from session_sources where user_id = $1 and session_id = $2 and ($3::uuid is null or document_id = $3)', [userId, sessionId, reset.documentId ?? null]);
    return { unlinked: rowCount ?? 0 };
  });
}

function running(jobId: string): Problem {
  return new Problem(409, 'analysis_running', `An analysis of this session is running and needs its sources. Nothing was unlinked; wait until it has ended: GET /api/analysis-jobs/${jobId}.`, { extra: { jobId } });
}
