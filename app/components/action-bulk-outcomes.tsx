import { Link } from '@remix-run/react';
import type { RowView } from '../../server/console/row-view.js';
import type { BulkAnswer } from '../../server/operations/bulk.js';
import { Shape } from './ui/shape';
import type { BulkOrder } from '~/bulk';
import { subjectOf } from '~/format/row-order';

const looks = {
  applied: { tone: 'done', shape: 'tick' }, refused: { tone: 'low', shape: 'dash' }, failed: { tone: 'failed', shape: 'cross' }, skipped: { tone: 'off', shape: 'ring' },
} as const satisfies Record<BulkAnswer['outcome'], unknown>;

/** What became of each row; what did not work comes first. */
export function BulkOutcomes({ order, rows, answers }: { order: BulkOrder; rows: RowView[]; answers: BulkAnswer[] }) {
  const sorted = [...answers].sort((a, b) => Number(a.outcome === 'applied') - Number(b.outcome === 'applied') || a.index - b.index);
  return (
    <ul className="bulk-outcomes" tabIndex={0} aria-label="What became of each row">
      {sorted.map(({ index, outcome, code, text }) => (
        <li key={index} className={`tone-${looks[outcome].tone}`} data-outcome={outcome} data-code={code ?? undefined}>
          <Shape name={looks[outcome].shape} />
          <span className="min-w-0"><Link className="row-link" discover="none" to={pathOf(order, rows[index]!)} target="_blank"><bdi>{subjectOf(rows[index]!, order.queue.noun)}</bdi></Link> <span className="soft"><bdi>{text}</bdi></span></span>
        </li>
      ))}
    </ul>
  );
}

function pathOf({ queue: { slug } }: BulkOrder, { id }: RowView): string {
  return slug === 'deployments' ? `/deployments/${id}` : `/queues/${slug}/${id}`;
}
