import { useEffect } from 'react';
import type { ReactNode } from 'react';
import type { RowPage } from '../../server/console/row-page.js';
import type { Snapshot } from '../../server/operations/action.js';
import { Age } from './age';
import { DeploymentState, LockMeter } from './deployment-lock';
import { Worker } from './holder';
import { LeaseMeter } from './lease-meter';
import { StateMark } from './state-mark';
import { factsOf } from '~/format/action-words';
import { age } from '~/format/age';
import { nextSweepAt } from '~/format/attention';
import { counted } from '~/format/count';
import { shownState } from '~/format/state';
import { useLiveView, useNow } from '~/live/use-live';
import { useRights } from '~/rights';

interface RowProps {
  page: RowPage;
  action: string;
  token: string | undefined;
  /** Called when something has changed that the action is judged by. */
  onChange: (mark: string, token: string) => void;
}

/** The row as it is now, on the database clock, while the card is open: it follows along live. */
export function RowEvidence({ page: read, action, token, onChange }: RowProps) {
  const page = useLiveView<RowPage>(`row:${read.queue.slug}:${read.row.id}`, read);
  const now = useNow();
  const { publishDeadAfterMs } = useRights();
  const { row } = page;
  const over = row.leaseExpiresAt !== null && row.leaseExpiresAt < now;
  const stuck = row.table === 'deployments' && row.heartbeatAt !== null && now - row.heartbeatAt > publishDeadAfterMs;
  const mark = `${row.state} ${row.leaseToken} ${row.worker?.id} ${over} ${stuck} ${row.columns.open_children}`;
  useEffect(() => onChange(mark, row.leaseToken), [mark, row.leaseToken, onChange]);
  return (
    <>
      <Fact name="State">{row.table === 'deployments' ? <DeploymentState row={row} deadAfterMs={publishDeadAfterMs} /> : <StateMark state={shownState(row, now)} />}</Fact>
      {row.table === 'deployments' ? <Fact name="Lock"><LockMeter row={row} deadAfterMs={publishDeadAfterMs} wide /></Fact> : null}
      <Fact name="Lease">{row.leaseExpiresAt === null ? <span className="dim">none</span> : <><LeaseMeter row={row} wide /><p className="dim" suppressHydrationWarning>{over ? `ended ${age(now - row.leaseExpiresAt)} ago` : `valid for ${age(row.leaseExpiresAt - now)}`}, on the database clock</p></>}</Fact>
      {row.heartbeatAt === null ? null : <Fact name="Last beat"><Age at={row.heartbeatAt} suffix=" ago" /></Fact>}
      <Fact name={row.worker || !row.lastWorker ? 'Holder' : 'Last holder'}>
        {row.worker ?? row.lastWorker ? <><Worker {...(row.worker ?? row.lastWorker)!} held={row.worker !== null} />{row.worker && row.claimedAt !== null ? <span className="dim">, for <Age at={row.claimedAt} /></span> : null}</> : <span className="dim">nobody</span>}
      </Fact>
      <Fact name="Token"><span className="mono">#{row.leaseToken}</span>{token !== undefined && token !== row.leaseToken ? <b className="tone-text-stale"> · you looked at #{token}</b> : null}</Fact>
      <Fact name="Failures">{row.attempt} of {row.maxAttempts}, {counted(Math.max(0, row.maxAttempts - row.attempt), 'attempt')} left{row.lostLeases > 0 ? `; ${counted(row.lostLeases, 'lease')} lost to dying workers` : ''}</Fact>
      {action === 'release' && over && row.worker ? <LeftAlone at={nextSweepAt(page.sweep)} now={now} /> : null}
    </>
  );
}

function LeftAlone({ at, now }: { at: number | null; now: number }) {
  if (at === null) return null;
  return <Fact name="Or wait"><span suppressHydrationWarning>left alone, the sweep does the same {at > now ? `in ${age(at - now)}` : 'any moment'}</span></Fact>;
}

/** What is no row: as the database answered when it was asked last. */
export function SnapshotEvidence({ snapshot }: { snapshot: Snapshot | null }) {
  return factsOf(snapshot).map(({ key, name, text }) => <Fact key={key} name={name}><bdi>{text}</bdi></Fact>);
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <><dt>{name}</dt><dd>{children}</dd></>;
}
