import clsx from 'clsx';
import type { RowView } from '../../server/console/row-view.js';
import { age, remaining } from '~/format/age';
import { fullInstant } from '~/format/instant';
import { useHydrated } from '~/hydrated';
import { useFeed, useNow } from '~/live/use-live';

/** Below this share of the lease the meter turns amber: a beat or two has been missed by then. */
const LOW_SHARE = 0.3;

type Leased = Pick<RowView, 'leaseExpiresAt' | 'heartbeatAt'>;

/** The time left on a lease, draining in real time; past zero it is striped and counts upward ("−42 s"). */
export function LeaseMeter({ row, wide = false }: { row: Leased; wide?: boolean }) {
  const now = useNow();
  const { stale } = useFeed();
  const hydrated = useHydrated();
  if (row.leaseExpiresAt === null || row.heartbeatAt === null) return <span className="dim">–</span>;
  const left = row.leaseExpiresAt - now;
  const share = Math.max(0, Math.min(1, left / (row.leaseExpiresAt - row.heartbeatAt)));
  const look = left < 0 ? 'over' : share < LOW_SHARE ? 'low' : null;
  const words = left < 0 ? `lease ended ${age(-left)} ago` : `${age(left)} of the lease left`;
  return (
    <span className={clsx('lease', look, wide && 'wide', stale && 'paused')} data-lease={look ?? 'held'} title={hydrated ? `${words} · ends ${fullInstant(row.leaseExpiresAt)}` : words} suppressHydrationWarning>
      <span className="lease-bar" role="meter" aria-label="Lease" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)} aria-valuetext={words} suppressHydrationWarning>
        <span className="lease-fill" style={{ width: `${(share * 100).toFixed(1)}%` }} suppressHydrationWarning />
      </span>
      <span className="lease-left" suppressHydrationWarning>{remaining(left)}</span>
    </span>
  );
}
