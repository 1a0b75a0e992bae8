import type { WorkerView } from '../../server/console/workers.js';
import { age } from './age';
import { counted } from './count';
import type { Shape, Tone } from './state';

export interface WorkerLook {
  word: string;
  tone: Tone;
  shape: Shape;
  /** What matters about it now, in a few words. */
  note: string;
}

/** A process that missed this many beats is silent, though the sweep may not have said so yet (server/lease/processes.ts). */
const SILENT_BEATS = 3;

/** How a process is doing. `now` in milliseconds on the database clock. */
export function workerLook(worker: WorkerView, now: number): WorkerLook {
  if (worker.stoppedAt !== null) return { word: 'stopped', tone: 'off', shape: 'dash', note: worker.leases > 0 ? `left ${counted(worker.leases, 'lease')}` : 'clean' };
  const silence = now - worker.heartbeatAt;
  if (worker.goneAt !== null) return { word: 'gone', tone: 'failed', shape: 'cross', note: `silent ${age(silence)}${worker.leases > 0 ? `, ${counted(worker.leases, 'lease')} held` : ''}` };
  if (silence > SILENT_BEATS * worker.heartbeatSeconds * 1000) return { word: 'silent', tone: 'stale', shape: 'alert', note: `${age(silence)}, ${counted(worker.leases, 'lease')} held` };
  if (worker.drainedBy === 'operator') return drainedLook(worker.leases);
  if (worker.drainingSince !== null) return { word: 'draining', tone: 'low', shape: 'box', note: drainNote(worker, now) };
  return { word: 'live', tone: 'held', shape: 'block', note: worker.role === 'web' && worker.slots === 0 ? 'serves pages' : counted(worker.leases, 'lease') };
}

/** Drained by a person, it lives on and takes nothing until it is resumed. */
function drainedLook(leases: number): WorkerLook {
  return leases > 0
    ? { word: 'draining', tone: 'low', shape: 'box', note: `${counted(leases, 'lease')}, by an operator` }
    : { word: 'drained', tone: 'low', shape: 'box', note: 'by an operator, idle' };
}

function drainNote({ leases, killDeadlineAt }: WorkerView, now: number): string {
  const held = counted(leases, 'lease');
  if (killDeadlineAt === null) return held;
  return killDeadlineAt > now ? `${held}, ${age(killDeadlineAt - now)} left` : `${held}, deadline passed`;
}

/** When a process ended, or null while it lives. */
export function endedAt(worker: WorkerView): number | null {
  return worker.stoppedAt ?? (worker.goneAt === null ? null : worker.heartbeatAt);
}
