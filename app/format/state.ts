import type { FilterState } from '../../server/console/queue-filters.js';
import type { RowView } from '../../server/console/row-view.js';

export type Tone = 'waiting' | 'held' | 'low' | 'stale' | 'done' | 'failed' | 'off';
export type Shape = 'ring' | 'box' | 'block' | 'alert' | 'tick' | 'cross' | 'dash';

export interface StateLook {
  word: string;
  tone: Tone;
  shape: Shape;
}

/** One map from state to word, tone and shape. A state that is added to the engine and not to this map fails the build. */
export const stateLooks = {
  awaiting: { word: 'awaiting', tone: 'waiting', shape: 'ring' },
  queued: { word: 'queued', tone: 'waiting', shape: 'box' },
  running: { word: 'running', tone: 'held', shape: 'block' },
  stale: { word: 'stale', tone: 'stale', shape: 'alert' },
  building: { word: 'building', tone: 'held', shape: 'block' },
  succeeded: { word: 'done', tone: 'done', shape: 'tick' },
  live: { word: 'live', tone: 'done', shape: 'tick' },
  failed: { word: 'failed', tone: 'failed', shape: 'cross' },
  cancelled: { word: 'cancelled', tone: 'off', shape: 'dash' },
} as const satisfies Record<FilterState, StateLook>;

/** The state as shown: a held row whose lease has ended (database clock) is stale. */
export function shownState(row: Pick<RowView, 'state' | 'leaseExpiresAt'>, now: number): FilterState {
  return (row.state === 'running' || row.state === 'building') && row.leaseExpiresAt !== null && row.leaseExpiresAt < now ? 'stale' : row.state;
}
