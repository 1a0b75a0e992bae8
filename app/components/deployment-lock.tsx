import clsx from 'clsx';
import type { RowView } from '../../server/console/row-view.js';
import { Worker } from './holder';
import { StateMark } from './state-mark';
import { Shape } from './ui/shape';
import { age, remaining } from '~/format/age';
import { fullInstant } from '~/format/instant';
import { shownState } from '~/format/state';
import { useHydrated } from '~/hydrated';
import { useFeed, useNow } from '~/live/use-live';

/** Below this share of the dead-after time the meter turns amber: with a beat every tenth of it, several have been missed by then. */
const LOW_SHARE = 0.5;

type Lock = Pick<RowView, 'state' | 'heartbeatAt'>;

export function reclaimableAt({ state, heartbeatAt }: Lock, deadAfterMs: number): number | null {
  return state === 'building' && heartbeatAt !== null ? heartbeatAt + deadAfterMs : null;
}

/** How much more silence the lock is granted, draining since its last beat; past zero the next publish takes it over. */
export function LockMeter({ row, deadAfterMs, wide = false }: { row: Lock; deadAfterMs: number; wide?: boolean }) {
  const now = useNow();
  const { stale } = useFeed();
  const hydrated = useHydrated();
  const end = reclaimableAt(row, deadAfterMs);
  if (end === null) return <span className="dim">free</span>;
  const left = end - now;
  const share = Math.max(0, Math.min(1, left / deadAfterMs));
  const look = left < 0 ? 'over' : share < LOW_SHARE ? 'low' : null;
  const words = left < 0 ? `silent for ${age(-left)} longer than a lock is kept` : `may be taken over after another ${age(left)} of silence`;
  return (
    <span className={clsx('lease', look, wide && 'wide', stale && 'paused')} data-lock={look ?? 'held'} title={hydrated ? `${words} · ${fullInstant(end)}` : words} suppressHydrationWarning>
      <span className="lease-bar" role="meter" aria-label="Publish lock" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)} aria-valuetext={words} suppressHydrationWarning>
        <span className="lease-fill" style={{ width: `${(share * 100).toFixed(1)}%` }} suppressHydrationWarning />
      </span>
      <span className="lease-left" suppressHydrationWarning>{remaining(left)}</span>
    </span>
  );
}

/** A lock that has been silent for too long is stuck, whatever its lease says. */
export function DeploymentState({ row, deadAfterMs }: { row: RowView; deadAfterMs: number }) {
  const now = useNow();
  const end = reclaimableAt(row, deadAfterMs);
  if (end !== null && end < now) return <span className="state tone-stale" data-state="stuck"><Shape name="alert" />stuck</span>;
  const state = shownState(row, now);
  return <StateMark state={state === 'stale' ? 'building' : state} />;
}

/** The worker that drives the build; the lock is held without one, too. */
export function LockHolder({ row }: { row: RowView }) {
  if (row.worker) return <Worker {...row.worker} held />;
  if (row.state === 'building') return <span className="soft">no worker yet</span>;
  return <span className="dim">–</span>;
}
