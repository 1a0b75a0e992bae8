import type { RowView } from '../../server/console/row-view.js';
import { ActionButton } from './action-button';
import { Section } from './ui/section';
import type { Order } from '~/acting';
import { possibleNow, rowActionsOf, type RowAction } from '~/format/possible';
import { orderOf } from '~/format/row-order';
import { useNow } from '~/live/use-live';
import { useRights, useWhyNot } from '~/rights';

/** Every action on a row, each with why it is, or is not, possible now. */
export function RowActions({ row, slug, noun }: { row: RowView; slug: string; noun: string }) {
  return (
    <Section title="Actions" aside="the database decides when you press">
      <ul className="card row-actions">
        {rowActionsOf(row.table).map((action) => <RowActionLine key={action} action={action} row={row} order={orderOf(action, row, slug, noun)} />)}
      </ul>
    </Section>
  );
}

function RowActionLine({ action, row, order }: { action: RowAction; row: RowView; order: Order }) {
  const now = useNow();
  const rights = useRights();
  const barred = useWhyNot(action);
  const { possible, why } = possibleNow(action, row, now, rights);
  return (
    <li data-row-action={action} data-possible={possible && barred === null}>
      <ActionButton order={order} why={possible ? null : why} quietly />
      <span className={possible && barred === null ? 'soft' : 'dim'} suppressHydrationWarning>{barred ?? why}</span>
    </li>
  );
}
