/** Shows the text of a report to one person for a while: claims, references, quotes and the judge's reasons. The audit row is the permission. */
import { z } from 'zod';
import { analysisJobs } from '../lease/queues.js';
import { defineAction } from './action.js';

/** How long a reveal lasts, in minutes on the database clock; then it is asked for, and recorded, again. */
export const REVEAL_MINUTES = 15;

export const revealText = defineAction({
  name: 'reveal',
  permission: 'operator',
  fields: z.object({ report: z.uuid().toLowerCase() }),
  target: ({ report }) => ({ kind: 'report', id: report, queue: analysisJobs.table, rowId: report }),
  guard: 'Only for this report, for you alone.',
  consequence: `You see the text of this report for ${REVEAL_MINUTES} minutes: claims, references, quotes and the judge's reasons. That you did, and why, is kept in the audit.`,
  did: ({ after }) => `Revealed the text of ${String(after.citations)} citations for ${REVEAL_MINUTES} minutes.`,
  refusals: {},
  async act(tx, { report }) {
    const { rows } = await tx.query<{ userId: string; sessionId: string; citations: number }>(
      `select user_id as "userId", session_id as "sessionId", (select count(*)::int from job_citations where job_id = a.id) as citations from ${analysisJobs.table} a where id = $1 for key share`, [report]);
    if (!rows[0]) return { outcome: 'refused', code: 'not_found', now: null };
    const { citations, ...owner } = rows[0];
    return { outcome: 'applied', before: { revealed: false }, after: { revealed: true, citations, minutes: REVEAL_MINUTES }, owner, changed: [], kicks: [] };
  },
});
