/** Stops a queue from handing out work, and lets it go on. What is held goes on meanwhile. */
import { pauseQueue, readPause, resumeQueue, type Pause } from '../lease/worker-orders.js';
import type { QueueDefinition } from '../lease/queues.js';
import { defineAction, type Snapshot, type Target } from './action.js';
import { whoWasFirst } from './audit.js';
import { queueFields } from './row-fields.js';
import { byWhom } from './row-now.js';
import { spell } from './spell.js';

const target = ({ queue: { table } }: { queue: QueueDefinition }): Target => ({ kind: 'queue', id: table, queue: table });

function snapshot(pause: Pause | undefined): Snapshot {
  return pause ? { paused: true, by: pause.by, reason: pause.reason, seconds: pause.seconds } : { paused: false };
}

export const pauseQueueAction = defineAction({
  name: 'pause_queue',
  permission: 'operator',
  fields: queueFields, target,
  guard: 'Only while the queue is not paused.',
  consequence: 'No row of this queue is taken until it is resumed. What is held goes on. Staged uploads do not age meanwhile; publishes are answered queue_paused.',
  did: (_effect, { queue }) => `Paused ${queue.title.toLowerCase()}.`,
  refusals: {
    already_paused: ({ by, seconds, reason }) => `This queue was paused by ${String(by)}, ${spell(Number(seconds))} ago (“${String(reason)}”). Nothing was changed.`,
  },
  async act(tx, { queue }, { actor, reason }) {
    if (await pauseQueue(tx, queue.table, actor.name, reason)) {
      return { outcome: 'applied', before: snapshot(undefined), after: { paused: true, by: actor.name, reason }, changed: [], kicks: [] };
    }
    return { outcome: 'refused', code: 'already_paused', now: snapshot(await readPause(tx, queue.table)) };
  },
});

export const resumeQueueAction = defineAction({
  name: 'resume_queue',
  permission: 'operator',
  fields: queueFields, target,
  guard: 'Only while the queue is paused.',
  consequence: 'Workers take its rows again at once.',
  did: ({ before }, { queue }) => `Resumed ${queue.title.toLowerCase()}, paused for ${spell(Number(before.seconds))}.`,
  refusals: {
    already_running: (facts) => `This queue is not paused${typeof facts.firstBy === 'string' ? `: it was resumed${byWhom(facts)}` : ''}. Nothing was changed.`,
  },
  async act(tx, { queue }) {
    const ended = await resumeQueue(tx, queue.table);
    if (ended) return { outcome: 'applied', before: snapshot(ended), after: snapshot(undefined), changed: [], kicks: [{ q: queue.table, low: true }] };
    return { outcome: 'refused', code: 'already_running', now: snapshot(undefined), facts: await whoWasFirst(tx, queue.table, ['resume_queue']) };
  },
});
