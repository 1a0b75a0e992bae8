import type { EventView } from '../../server/console/row-page.js';
import { duration } from './age';
import type { Shape, Tone } from './state';

export interface EventWords {
  tone: Tone;
  shape: Shape;
  text: string;
}

type Phrase = (event: EventView) => EventWords;

const by = ({ worker, version }: EventView) => (worker ? ` by ${worker}${version ? ` (${version})` : ''}` : '');
const after = ({ ranMs }: EventView) => (ranMs === null ? '' : ` after ${duration(ranMs)}`);
const because = ({ errorCode }: EventView) => (errorCode ? `: ${errorCode}` : '');
const say = (tone: Tone, shape: Shape, text: (event: EventView) => string): Phrase => (event) => ({ tone, shape, text: text(event) });

/** What each cause of a transition reads like. A cause not listed here is shown by its own name. */
const phrases: Record<string, Phrase> = {
  enqueue: say('waiting', 'box', ({ toState }) => (toState === 'awaiting' ? 'Accepted; waits for its files' : 'Accepted and queued')),
  acquire: say('held', 'block', (event) => `Taken${by(event)}${event.waitedMs === null ? '' : `, waited ${duration(event.waitedMs)}`}`),
  succeed: say('done', 'tick', (event) => `Finished${by(event)}${after(event)}`),
  fail: say('failed', 'cross', (event) => `Failed${by(event)}${after(event)}${because(event)}`),
  await: say('waiting', 'ring', (event) => `Claims read${by(event)}${after(event)}; awaits their checks`),
  wait: say('waiting', 'box', (event) => `Put off${by(event)}: uploads of the session are still being parsed; nothing charged`),
  retry: say('low', 'box', (event) => `Attempt failed${by(event)}${after(event)}${because(event)}; queued to try again`),
  outage: say('low', 'box', (event) => `A service outside was down${because(event)}; queued again, nothing charged`),
  drain: say('waiting', 'box', (event) => `Given back${by(event)} while it drained${after(event)}; nothing charged`),
  unstarted: say('waiting', 'box', (event) => `Given back${by(event)}: taken in advance, and its turn did not come soon; nothing charged`),
  release: say('waiting', 'box', (event) => `Stale lease released by an operator${event.worker ? `; ${event.worker}${event.version ? ` (${event.version})` : ''} had let it run out` : ''}`),
  force_release: say('low', 'box', (event) => `Lease taken by force by an operator${event.worker ? ` from ${event.worker}${event.version ? ` (${event.version})` : ''}` : ''}; nothing charged`),
  answer_lost: say('waiting', 'box', (event) => `Given back${by(event)}: the answer to its acquire was lost; nothing charged`),
  sweep: say('stale', 'alert', (event) => `Lease ran out${event.worker ? `: ${event.worker}${event.version ? ` (${event.version})` : ''} fell silent` : ''}; the sweep queued it again`),
  poison: say('failed', 'cross', (event) => `Failed: every worker that took it died${because(event)}`),
  cancel: say('off', 'dash', () => 'Cancelled'),
  children: say('waiting', 'box', ({ toState }) => (toState === 'queued' ? 'All its files have ended; queued' : `All its parts have ended: ${toState ?? ''}`)),
  reconcile: say('waiting', 'box', ({ toState }) => `The sweep put its count right${toState ? `: ${toState}` : ''}`),
  expire: say('failed', 'cross', (event) => `The staged upload waited too long and was erased${because(event)}`),
  late_write: say('low', 'dash', (event) => `A late write was refused${event.worker ? `: ${event.worker}${event.version ? ` (${event.version})` : ''} no longer held the lease` : ''}`),
  publish: say('waiting', 'box', ({ fromState }) => (fromState ? 'Publish accepted; the lock was taken' : 'First publish accepted; the lock was taken')),
  reclaim: say('stale', 'alert', (event) => `The lock was taken over by a new publish: ${event.worker ? `${event.worker}${event.version ? ` (${event.version})` : ''}` : 'the one before'} had fallen silent`),
  detach: say('stale', 'alert', (event) => `Lease ran out${event.worker ? `: ${event.worker}${event.version ? ` (${event.version})` : ''} fell silent` : ''}; the lock is kept, another worker may drive on`),
  cancel_requested: say('low', 'dash', () => 'Cancel asked for; the lock is held until the build has ended'),
  clear: say('failed', 'dash', () => 'The stuck lock was cleared'),
  rekick: say('waiting', 'box', () => 'Queued again by an operator'),
};

export function eventWords(event: EventView): EventWords {
  const phrase = phrases[event.cause];
  if (phrase) return phrase(event);
  const move = event.fromState && event.toState ? `: ${event.fromState} → ${event.toState}` : '';
  return { tone: 'waiting', shape: 'box', text: `${event.cause.replaceAll('_', ' ')}${move}${by(event)}${because(event)}` };
}
