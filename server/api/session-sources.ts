/**
 * The user's two resets: all sources of a session, or one document of it, and never while an analysis of that session runs. The documents stay
 * the user's; foreign, unknown and malformed ids alike unlink nothing.
 */
import type pg from 'pg';
import { resetSources } from '../sources/session-reset.js';
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
    const answer = await resetSources(tx, { userId, sessionId, documentId: reset.documentId });
    if (answer.kind === 'analysis_running') throw running(answer.jobId);
    return { unlinked: answer.unlinked };
  });
}

function running(jobId: string): Problem {
  return new Problem(409, 'analysis_running', `An analysis of this session is running and needs its sources. Nothing was unlinked; wait until it has ended: GET /api/analysis-jobs/${jobId}.`, { extra: { jobId } });
}
