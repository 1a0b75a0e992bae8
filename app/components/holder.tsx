import type { RowView } from '../../server/console/row-view.js';
import { Age } from './age';
import { useNow } from '~/live/use-live';

/** Who holds the row; who held it last, dimmed; or when it is tried again. */
export function Holder({ row }: { row: RowView }) {
  const now = useNow();
  if (row.worker) return <Worker label={row.worker.label} version={row.worker.version} id={row.worker.id} held />;
  if (row.state === 'queued' && row.runAfter > now) return <span className="dim"><Age at={row.runAfter} prefix="retry in " /></span>;
  if (row.lastWorker && row.state !== 'queued') return <Worker label={row.lastWorker.label} version={row.lastWorker.version} id={row.lastWorker.id} held={false} />;
  return <span className="dim nothing">–</span>;
}

export function Worker({ label, version, id, held }: { label: string; version: string; id: string; held: boolean }) {
  return (
    <span className={held ? 'mono' : 'mono dim'} title={held ? `Process ${id}` : `Last held by ${id}`}>
      <bdi className="clip inline-block max-w-[12ch] align-bottom">{label}</bdi> <span className={held ? 'font-semibold' : undefined}>{version}</span>
    </span>
  );
}
