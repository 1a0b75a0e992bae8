/** Takes a publish lock away from a publish that has fallen silent, so that the app can be published again. */
import { clearStuckLock } from '../deployments/unlock.js';
import { deployments } from '../lease/queues.js';
import { defineAction } from './action.js';
import { leasedRowFields, rowTarget } from './row-fields.js';
import { ago, byWhom, endedHow, holderOf, readRowNow, whoMoved } from './row-now.js';

export const clearLock = defineAction({
  name: 'clear_lock',
  permission: 'admin',
  fields: leasedRowFields.refine(({ queue }) => queue.table === deployments.table, 'only a deployment has a publish lock'),
  target: rowTarget,
  guard: 'Only while it is building under this token and its last beat is older than the dead-after time, on the database clock.',
  consequence: 'The publish that holds the lock ends as failed (cleared) and can write nothing more. The app can be published at once; the next publish first ends the build that this one may have left behind.',
  did: ({ before }) => `Cleared the stuck publish lock (lease #${String(before.token)}, silent for ${ago(before.silent).replace(' ago', '')}); the app can be published again.`,
  refusals: {
    holder_alive: ({ silent, ...rest }) => `The publish is alive: ${holderOf(rest)} last beat ${ago(silent)}. Nothing was changed. Wait for it, or cancel it.`,
    already_clear: (facts) => `Nobody holds this lock any more: the publish is ${endedHow(facts)}. Nothing was changed, and nothing needs to be.`,
    reclaimed: (facts) => `The lock was taken anew since you looked${byWhom(facts)}: lease #${String(facts.token)}, held by ${holderOf(facts)}, last beat ${ago(facts.silent)}. Nothing was changed; look at it again before you act.`,
  },
  async act(tx, { queue, id, token }, { config, actor }) {
    const found = await readRowNow(tx, queue, id);
    if (!found) return { outcome: 'refused', code: 'not_found', now: null };
    const answer = await clearStuckLock(tx, id, token, config.publishDeadAfterSeconds, `The lock was cleared by ${actor.name}: nothing had been heard of this publish for too long.`);
    if (answer.kind === 'cleared') {
      return { outcome: 'applied', before: found.row, after: { state: 'failed', errorCode: 'cleared', publishNo: answer.publishNo }, owner: found.owner, changed: [{ table: queue.table, ids: [id] }], kicks: [{ lost: [id] }] };
    }
    if (answer.kind === 'none') return { outcome: 'refused', code: 'not_found', now: null };
    return { outcome: 'refused', code: answer.kind, now: found.row, facts: await whoMoved(tx, queue, id) };
  },
});
