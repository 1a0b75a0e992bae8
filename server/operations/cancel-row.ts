/** Ends what has not ended: the row, and with a parent its open children. A publish is asked to end; its lock is held until its build has. */
import { requestCancel } from '../deployments/unlock.js';
import { cancel } from '../lease/cancel.js';
import type { QueueDefinition } from '../lease/queues.js';
import { defineAction, type Applied, type Effect } from './action.js';
import { rowFields, rowTarget } from './row-fields.js';
import { finished, holderOf, readRowNow, whoEnded, type RowNow } from './row-now.js';
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
  refusals: { finished },
  async act(tx, { queue, id }, { actor }) {
    // A parent is not locked here: its children are locked first, by the statement itself.
    const found = await readRowNow(tx, queue, id, { lock: !queue.children });
    if (!found) return { outcome: 'refused', code: 'not_found', now: null };
    const applied = queue.words ? await endPublish(tx, queue, id, actor.name) : await endRows(tx, queue, id, `Cancelled by ${actor.name}.`);
    if (applied) return { outcome: 'applied', before: found.row, owner: found.owner, ...applied };
    return refused(found.row, await whoEnded(tx, id));
  },
});

function refused(now: RowNow, facts: Awaited<ReturnType<typeof whoEnded>>): Effect<'finished'> {
  return { outcome: 'refused', code: 'finished', now, facts };
}

type Rest = Pick<Applied, 'after' | 'changed' | 'kicks'>;

async function endRows(tx: pg.PoolClient, queue: QueueDefinition, id: string, message: string): Promise<Rest | undefined> {
  const { rows, lost, parentsQueued } = await cancel(tx, queue, [id], message);
  if (!rows.some((row) => row.id === id)) return undefined;
  const tables = [...new Set(rows.map((row) => row.queue))];
  return {
    after: { state: 'cancelled', rows: rows.length },
    changed: [...tables.map((table) => ({ table, ids: rows.filter((row) => row.queue === table).map((row) => row.id) })), ...(queue.parent ? [{ table: queue.parent.queue, ids: parentsQueued }] : [])],
    kicks: [...(lost.length > 0 ? [{ lost }] : []), ...(queue.parent && parentsQueued.length > 0 ? [{ q: queue.parent.queue }] : [])],
  };
}

async function endPublish(tx: pg.PoolClient, queue: QueueDefinition, id: string, by: string): Promise<Rest | undefined> {
  const asked = await requestCancel(tx, id, by);
  if (asked.kind !== 'requested') return undefined;
  return { after: { state: 'building', publishNo: asked.publishNo, cancelRequested: true }, changed: [{ table: queue.table, ids: [id] }], kicks: [{ q: queue.table, low: true }] };
}
