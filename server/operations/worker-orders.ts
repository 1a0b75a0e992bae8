/** Drains a worker that lives on, and lets it work again. One inside a web process is a worker like another; web goes on serving. */
import type pg from 'pg';
import { z } from 'zod';
import { isLive } from '../lease/processes.js';
import { queues } from '../lease/queues.js';
import { isHeld } from '../lease/words.js';
import { orderDrain, orderResume } from '../lease/worker-orders.js';
import { defineAction, type Snapshot, type Target } from './action.js';
import { whoWasFirst } from './audit.js';
import { ago, byWhom } from './row-now.js';

const fields = z.object({ worker: z.string().min(1).max(300) });
const target = ({ worker }: z.output<typeof fields>): Target => ({ kind: 'worker', id: worker });

const nameOf = ({ label, version }: Snapshot) => `${String(label)} (${String(version)})`;
const gone = (facts: Snapshot) => `${nameOf(facts)} is gone: ${facts.stopped === true ? 'it has stopped' : `its last beat was ${ago(facts.silent)}`}. Nothing was changed; what it held is taken back by the sweep.`;
const servesPages = (facts: Snapshot) => `${nameOf(facts)} only serves pages and takes no work. Nothing was changed; the work that a web process does inline is a process of its own on Workers, with the role inline.`;
const shuttingDown = (facts: Snapshot) => `${nameOf(facts)} is shutting down already. Nothing was changed.`;

export const drainWorker = defineAction({
  name: 'drain',
  permission: 'operator',
  fields, target,
  guard: 'Only a worker that beats and is not draining.',
  consequence: 'It gives back what it holds, nothing charged, takes no more, and idles until it is resumed or stopped. Other workers take over within a second; where there is none, the work waits. A web process that worked inline goes on serving.',
  did: ({ before }) => `Drained ${nameOf(before)}, which held ${String(before.leases)} ${before.leases === 1 ? 'lease' : 'leases'}.`,
  refusals: {
    already_draining: (facts) => `${nameOf(facts)} is draining already${byWhom(facts)}. Nothing was changed.`,
    gone,
    serves_pages: servesPages,
    shutting_down: shuttingDown,
  },
  async act(tx, { worker }) {
    const before = await readWorker(tx, worker);
    if (!before) return { outcome: 'refused', code: 'not_found', now: null };
    if (before.role === 'web') return { outcome: 'refused', code: 'serves_pages', now: before };
    if (await orderDrain(tx, worker)) return { outcome: 'applied', before, after: { ...before, drainedBy: 'operator' }, changed: [], kicks: [{ drain: worker }] };
    if (before.drainedBy === 'shutdown' && before.stopped === false) return { outcome: 'refused', code: 'shutting_down', now: before };
    if (before.drainedBy === 'operator' && before.live === true) return { outcome: 'refused', code: 'already_draining', now: before, facts: await whoWasFirst(tx, worker, ['drain']) };
    return { outcome: 'refused', code: 'gone', now: before };
  },
});

export const resumeWorker = defineAction({
  name: 'resume',
  permission: 'operator',
  fields, target,
  guard: 'Only a worker that beats and was drained by an operator.',
  consequence: 'It takes work again at once.',
  did: ({ before }) => `Resumed ${nameOf(before)}.`,
  refusals: {
    not_draining: (facts) => `${nameOf(facts)} is not draining${typeof facts.firstBy === 'string' ? `: it was resumed${byWhom(facts)}` : ''}. Nothing was changed.`,
    gone,
    serves_pages: servesPages,
    shutting_down: shuttingDown,
  },
  async act(tx, { worker }) {
    const before = await readWorker(tx, worker);
    if (!before) return { outcome: 'refused', code: 'not_found', now: null };
    if (before.role === 'web') return { outcome: 'refused', code: 'serves_pages', now: before };
    if (await orderResume(tx, worker)) return { outcome: 'applied', before, after: { ...before, drainedBy: null }, changed: [], kicks: [{ resume: worker }] };
    if (before.live === false) return { outcome: 'refused', code: 'gone', now: before };
    if (before.drainedBy === 'shutdown') return { outcome: 'refused', code: 'shutting_down', now: before };
    return { outcome: 'refused', code: 'not_draining', now: before, facts: await whoWasFirst(tx, worker, ['resume']) };
  },
});

/** Locked until the transaction ends. `silent` in seconds. */
async function readWorker(tx: pg.PoolClient, id: string): Promise<Snapshot | undefined> {
  const { rows } = await tx.query<Snapshot>(
    `select w.label, w.version, w.role, w.drained_by as "drainedBy", w.stopped_at is not null as stopped, extract(epoch from clock_timestamp() - w.heartbeat_at)::float8 as silent,
            ${isLive('w')} as live, ${heldBy()} as leases
       from workers w where w.id = $1 for update of w`, [id]);
  return rows[0];
}

function heldBy(): string {
  const counts = queues.map((queue) => `(select count(*)::int from ${queue.table} t where ${isHeld(queue, 't')} and t.worker_id = w.id)`);
  return counts.join(' + ');
}
