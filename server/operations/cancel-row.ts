/** Ends what has not ended: the row, and with a parent its open children. A publish is asked to end; its lock is held until its build has. */
import { requestCancel } from '../deployments/unlock.js';
import { cancel } from '../lease/cancel.js';
import type { QueueDefinition } from '../lease/queues.js';
import { defineAction, type Applied, type Snapshot } from './action.js';
import { rowFields, rowTarget } from './row-fields.js';
import { byWhom, finished, holderOf, readRowNow, secondsSince, whoMoved } from './row-now.js';
import type pg from 'pg';

export const cancelRow = defineAction({
  name: 'cancel',
  permission: 'operator',
  fields: rowFields,
  target: rowTarget,
  guard: 'Only while it has not ended.',
  consequence: 'It ends as cancelled, with all its open parts, and uploaded bytes are erased. Whoever holds it stops within a second. A publish ends once its build has ended.',
  did: ({ before, after }) => after.state === 'cancelled'
    ? `Cancelled it${Number(after.rows) > 1 ? ` and ${Number(after.rows) - 1} of its parts` : ''}${before.worker === null ? '' : `; ${holderOf(before)} was told to stop`}.`
    : 'Asked the publish to end; its lock is held until its build has ended.',
  refusals: {
    finished,
    already_asked: (facts) => `The end of this publish was asked for already${byWhom(facts)}; its lock is held until its build has ended. Nothing was changed; wait for that, or clear the lock if it falls silent.`,
  },
  async act(tx, { queue, id }, { actor }) {
    // A parent is not locked here: its children are locked first, by the statement itself.
    const found = await readRowNow(tx, queue, id, { lock: !queue.children });
    if (!found) return { outcome: 'refused', code: 'not_found', now: null };
    const asked = queue.words ? await whoAsked(tx, id) : undefined;
    if (asked) return { outcome: 'refused', code: 'already_asked', now: found.row, facts: asked };
    const applied = queue.words ? await endPublish(tx, queue, id, actor.name) : await endRows(tx, queue, id, `Cancelled by ${actor.name}.`);
    if (applied) return { outcome: 'applied', before: found.row, owner: found.owner, ...applied };
    const now = queue.children ? (await readRowNow(tx, queue, id))!.row : found.row;
    return { outcome: 'refused', code: 'finished', now, facts: await whoMoved(tx, queue, id) };
  },
});

/** Whether this publish has been asked to end before, by a person or over the API. */
async function whoAsked(tx: pg.PoolClient, id: string): Promise<Snapshot | undefined> {
  const { rows } = await tx.query<Snapshot>(
    `select cancel_requested_by as "firstBy", ${secondsSince('cancel_requested_at')} as "firstAgo" from deployments where id = $1 and state = 'building' and cancel_requested_at is not null`, [id]);
  return rows[0];
}

type Rest = Pick<Applied, 'after' | 'changed' | 'kicks'>;

async function endRows(tx: pg.PoolClient, queue: QueueDefinition, id: string, message: string): Promise<Rest | undefined> {
  const { rows, lost, parentsQueued } = await cancel(tx, queue, [id], message);
  if (!rows.some((row) => row.id === id)) return undefined;
  const tables = [...new Set(rows.map((row) => row.queue))];
  return {
    after: { state: 'cancelled', rows: rows.length },
    changed: [...tables.map((table) => ({ table, ids: rows.filter((row) => row.queue === table).map((row) => row.id) })), ...(await parentOf(tx, queue, id))],
    kicks: [...(lost.length > 0 ? [{ lost }] : []), ...(queue.parent && parentsQueued.length > 0 ? [{ q: queue.parent.queue }] : [])],
  };
}

/** Its counts have changed, and it may have closed. */
async function parentOf(tx: pg.PoolClient, queue: QueueDefinition, id: string): Promise<{ table: string; ids: string[] }[]> {
  if (!queue.parent) return [];
  const { rows } = await tx.query<{ id: string }>(`select ${queue.parent.column} as id from ${queue.table} where id = $1`, [id]);
  return [{ table: queue.parent.queue, ids: rows.map((row) => row.id) }];
}

async function endPublish(tx: pg.PoolClient, queue: QueueDefinition, id: string, by: string): Promise<Rest | undefined> {
  const asked = await requestCancel(tx, id, by);
  if (asked.kind !== 'requested') return undefined;
  return { after: { state: 'building', publishNo: asked.publishNo, cancelRequested: true }, changed: [{ table: queue.table, ids: [id] }], kicks: [{ q: queue.table, low: true }] };
}
