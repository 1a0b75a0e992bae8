import type { PickedUp, Tally, LeaseFate } from '../../server/console/redeploy-leases.js';
import type { RedeployHead, RolloutProcess } from '../../server/console/redeploy-fleet.js';
import type { FateFilter } from '../../server/console/redeploy.js';
import type { RedeployFilters } from '../../server/console/redeploys.js';
import { age, duration } from './age';
import { counted, listed } from './count';
import type { Shape, Tone } from './state';

interface Look {
  word: string;
  tone: Tone;
  shape: Shape;
}

/** What became of a lease, told apart by word and shape. */
export const fateLooks: Record<NonNullable<FateFilter['outcome']>, Look> = {
  held: { word: 'still held', tone: 'held', shape: 'block' },
  finished: { word: 'finished', tone: 'done', shape: 'tick' },
  given_back: { word: 'given back', tone: 'waiting', shape: 'box' },
  expired: { word: 'expired', tone: 'stale', shape: 'alert' },
  lost: { word: 'lost', tone: 'failed', shape: 'cross' },
};

export const leavingLooks: Record<RolloutProcess['leaving'], Look> = {
  working: { word: 'working', tone: 'held', shape: 'block' },
  drained: { word: 'drained', tone: 'low', shape: 'box' },
  draining: { word: 'draining', tone: 'low', shape: 'box' },
  clean: { word: 'stopped, clean', tone: 'done', shape: 'tick' },
  killed: { word: 'killed', tone: 'failed', shape: 'cross' },
};

/** "9 finished in the drain, 2 given back and 1 still held." What did not happen is not said, except that nothing was lost. */
export function tallyWords(tally: Tally): string {
  if (tally.inFlight === 0) return 'No lease was in flight when the old version began to leave. Nothing was lost.';
  const parts = [
    tally.finished > 0 ? `${tally.finished} finished in the drain` : '',
    tally.givenBack > 0 ? `${tally.givenBack} given back${pickedUpWords(tally.afterGiveBack)}` : '',
    tally.expired > 0 ? `${tally.expired} expired with their worker${pickedUpWords(tally.afterExpiry)}` : '',
    tally.held > 0 ? `${tally.held} still held` : '',
  ].filter((part) => part !== '');
  const waiting = tally.waiting > 0 ? ` ${counted(tally.waiting, 'row waits', 'rows wait')} to be taken again.` : '';
  return `${counted(tally.inFlight, 'lease was', 'leases were')} in flight at the switch: ${listed(parts)}.${waiting} ${lostWords(tally)}`;
}

function lostWords({ lost, held, waiting }: Tally): string {
  if (lost > 0) return `${counted(lost, 'row was', 'rows were')} lost.`;
  return held + waiting > 0 ? 'Nothing lost so far.' : 'Nothing was lost.';
}

function pickedUpWords({ rows, p50, longest }: PickedUp): string {
  if (rows === 0 || p50 === null || longest === null) return '';
  return rows === 1 ? ` (taken again after ${duration(longest)})` : ` (taken again after ${duration(p50)}, at most ${duration(longest)})`;
}

/** "rolling for 41 s", "took 2 m 12 s". */
export function rollWords({ startedAt, endedAt, switchAt }: RedeployHead, now: number): string {
  const from = Math.min(startedAt, switchAt);
  return endedAt === null ? `rolling for ${age(now - from)}` : `took ${age(endedAt - from)}`;
}

/** Where a lease's row stands, for people. */
export function fateState({ state, lost, errorCode }: LeaseFate): string {
  if (lost) return `lost: ${errorCode}`;
  return state === 'failed' && errorCode ? `failed: ${errorCode}` : state === 'succeeded' ? 'done' : state;
}

export function redeploysPath(filters: Partial<RedeployFilters>): string {
  return `/redeploys${redeploysQuery(filters)}`;
}

/** Empty, or with its question mark. */
export function redeploysQuery(filters: Partial<RedeployFilters>): string {
  const query = new URLSearchParams();
  for (const name of ['role', 'state', 'version', 'before', 'after'] as const) if (filters[name]) query.set(name, filters[name]);
  return query.size === 0 ? '' : `?${query}`;
}

export function redeployPath(id: string, filter: Partial<FateFilter> = {}): string {
  const query = new URLSearchParams();
  for (const name of ['outcome', 'before'] as const) if (filter[name]) query.set(name, filter[name]);
  const text = query.toString();
  return text === '' ? `/redeploys/${id}` : `/redeploys/${id}?${text}`;
}
