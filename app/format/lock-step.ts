import type { DeploymentFacts } from '../../server/console/deployments.js';
import type { RowPage } from '../../server/console/row-page.js';
import { age } from './age';
import { counted } from './count';

type Known = Pick<RowPage, 'row' | 'pausedReason' | 'capableWorkers' | 'breakerUntil'>;

/** What happens next to a publish lock, in a sentence. Milliseconds, database clock. */
export function lockStep({ row, pausedReason, capableWorkers, breakerUntil }: Known, facts: Pick<DeploymentFacts, 'cancelRequestedAt'>, deadAfterMs: number, now: number): string {
  if (row.state !== 'building') return freeStep(row.state, pausedReason);
  const silent = row.heartbeatAt === null ? 0 : now - row.heartbeatAt;
  if (silent > deadAfterMs) return `Nothing was heard of it for ${age(silent)}: the next publish takes the lock over, and a worker that comes first drives this one on. What is live keeps serving.`;
  if (facts.cancelRequestedAt !== null) return 'It was asked to end: the lock is held until its build has ended, then it fails as cancelled.';
  if (row.worker && row.leaseExpiresAt !== null && row.leaseExpiresAt < now) return `Its worker has let its lease run out: the sweep gives it back, and another drives on. After ${age(deadAfterMs)} of silence the next publish may take over.`;
  if (row.worker) return `Its worker beats, so it keeps the lock, however long the build takes. Should the worker die, another drives on; after ${age(deadAfterMs)} of silence the next publish may take over.`;
  if (pausedReason !== null) return `The queue is paused (${pausedReason}). A worker takes it after someone resumes the queue.`;
  if (capableWorkers === 0) return 'No live worker can publish. It is taken up as soon as one starts.';
  if (breakerUntil !== null && breakerUntil > now) return `The hosting did not answer; it is tried again in ${age(breakerUntil - now)}, nothing charged.`;
  if (row.runAfter > now) return `It is tried again in ${age(row.runAfter - now)}.`;
  return `The next free slot takes it up (${counted(capableWorkers, 'live worker')}).`;
}

function freeStep(state: string, pausedReason: string | null): string {
  if (pausedReason !== null) return `Publishing is paused (${pausedReason}); new publishes are refused until someone resumes the queue.`;
  return state === 'live' ? 'Nothing: the lock is free and the release is live.' : 'Nothing: the lock is free. The next publish begins anew and shows nothing of this failure; what was live before still serves.';
}
