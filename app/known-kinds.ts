import { useRouteLoaderData } from '@remix-run/react';
import type { NowView } from '../server/console/now.js';
import type { RowView } from '../server/console/row-view.js';
import { useLiveView } from '~/live/use-live';
import type { loader as consoleLoader } from '~/routes/_console';

/**
 * Whether a row waits for a worker that is newer than all that live: some take its queue's work, but none knows its kind at its schema
 * version. Where nobody takes that work at all it waits for any worker. As the stream last said.
 */
export function useWaitsForNewer(row: RowView): boolean {
  const { now } = useRouteLoaderData<typeof consoleLoader>('routes/_console')!;
  return waitsForNewer(row, useLiveView<NowView>('summary', now!));
}

/** Exported for its test. */
export function waitsForNewer(row: RowView, { queues, capabilities, knownKinds }: Pick<NowView, 'queues' | 'capabilities' | 'knownKinds'>): boolean {
  const waits = (row.state === 'queued' || row.state === 'building') && row.worker === null;
  const queue = queues.find(({ table }) => table === row.table);
  return waits && queue !== undefined && capabilities.includes(queue.capability) && (knownKinds[row.table]?.[row.kind] ?? 0) < row.schemaVersion;
}
