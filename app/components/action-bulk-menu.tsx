import { DropdownMenu } from 'radix-ui';
import type { QueueFilters } from '../../server/console/queue-filters.js';
import type { QueuePage } from '../../server/console/queue-page.js';
import { useDesk } from './action-desk';
import { KeyMenu } from './ui/key-menu';
import { actionWords } from '~/format/action-words';
import { count } from '~/format/count';
import { rowActionsOf, type RowAction } from '~/format/possible';
import { useWhyNot } from '~/rights';

interface Props {
  page: QueuePage;
  filters: QueueFilters;
  picked: string[];
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** The actions on the selected rows, or on all that match. Force is for one row at a time: its confirmation names the row. */
export default function BulkMenu({ page, filters, picked, open, onOpen }: Props) {
  const actions = rowActionsOf(page.queue.table).filter((action) => action !== 'force_release');
  const all = page.matching > picked.length;
  return (
    <KeyMenu open={open} onOpen={onOpen} sideOffset={6} trigger={<DropdownMenu.Trigger className="btn" data-bulk-menu>Act on {count(picked.length)} <kbd aria-hidden="true">a</kbd></DropdownMenu.Trigger>}>
      <div className="menu-label">The {count(picked.length)} selected</div>
      {actions.map((action) => <Item key={action} action={action} page={page} filters={filters} ids={picked} />)}
      {all ? <><div className="menu-line" /><div className="menu-label">All {count(page.matching)} that match, at most 500</div></> : null}
      {all ? actions.map((action) => <Item key={action} action={action} page={page} filters={filters} ids={null} />) : null}
    </KeyMenu>
  );
}

function Item({ action, page, filters, ids }: { action: RowAction; page: QueuePage; filters: QueueFilters; ids: string[] | null }) {
  const { openBulk } = useDesk();
  const barred = useWhyNot(action);
  const order = { action, queue: { slug: page.queue.slug, noun: page.queue.noun }, ids, filters };
  return (
    <DropdownMenu.Item className="menu-item menu-action" aria-disabled={barred !== null || undefined} data-bulk-action={action} data-all={ids === null || undefined} onSelect={(event) => (barred === null ? openBulk(order) : event.preventDefault())}>
      <span>{actionWords(action).label.replace(/ it$/, '')}{barred ? <span className="menu-why">{barred}</span> : null}</span>
    </DropdownMenu.Item>
  );
}
