/** Unlinks all sources of a session on the user's behalf. The documents stay the user's. */
import { z } from 'zod';
import { lockUser } from '../api/admission.js';
import { resetSources } from '../sources/session-reset.js';
import { defineAction } from './action.js';
import { whoWasFirst } from './audit.js';
import { byWhom } from './row-now.js';

export const outsideId = z.string().trim().min(1).max(200).regex(/^\P{Cc}+$/u, 'expected no control characters');

export const resetSessionSources = defineAction({
  name: 'reset_sources',
  permission: 'admin',
  fields: z.object({ userId: outsideId, sessionId: outsideId }),
  target: ({ userId, sessionId }) => ({ kind: 'session', id: sessionId, userId, sessionId }),
  guard: 'Only while no analysis of this session is waiting or running.',
  consequence: 'All its sources are unlinked; uploads of this session that are still being parsed will not link theirs. Documents are kept. An analysis started afterwards answers sources_unavailable until something is uploaded or linked.',
  confirmation: ({ sessionId }) => sessionId,
  did: ({ after }) => `Unlinked ${count(after.unlinked, 'source')} of the session${Number(after.told) > 0 ? `; ${count(after.told, 'upload')} under way or failed will not link any` : ''}.`,
  refusals: {
    already_reset: (facts) => `Nothing is linked in this session${typeof facts.firstBy === 'string' ? `: it was reset${byWhom(facts)}` : ''}. Nothing was changed, and nothing needs to be.`,
    analysis_running: ({ jobId }) => `An analysis of this session (${String(jobId)}) is waiting or running and needs its sources. Nothing was changed; wait until it has ended, or cancel it first.`,
  },
  async act(tx, { userId, sessionId }) {
    await lockUser(tx, userId);
    const { rows } = await tx.query<{ linked: number; known: boolean }>(
      `select (select count(*)::int from session_sources where user_id = $1 and session_id = $2) as linked,
              exists (select 1 from session_sources where user_id = $1 and session_id = $2) or exists (select 1 from parse_jobs where user_id = $1 and session_id = $2) as known`, [userId, sessionId]);
    const first = await whoWasFirst(tx, sessionId, ['reset_sources'], userId);
    if (!rows[0]!.known && first.firstBy === undefined) return { outcome: 'refused', code: 'not_found', now: null };
    const answer = await resetSources(tx, { userId, sessionId });
    if (answer.kind === 'analysis_running') return { outcome: 'refused', code: 'analysis_running', now: { linked: rows[0]!.linked }, facts: { jobId: answer.jobId } };
    if (answer.unlinked + answer.told === 0) return { outcome: 'refused', code: 'already_reset', now: { linked: 0 }, facts: first };
    return { outcome: 'applied', before: { linked: rows[0]!.linked }, after: { linked: 0, unlinked: answer.unlinked, told: answer.told }, changed: [], kicks: [] };
  },
});

function count(n: unknown, noun: string): string {
  return `${String(n)} ${noun}${n === 1 ? '' : 's'}`;
}
