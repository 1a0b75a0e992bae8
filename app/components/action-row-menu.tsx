import { Ellipsis } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { RowView } from '../../server/console/row-view.js';
import { useDesk } from './action-desk';
import { KeyMenu } from './ui/key-menu';
import { actionWords } from '~/format/action-words';
import { possibleNow, rowActionsOf, type RowAction } from '~/format/possible';
import { orderOf, subjectOf } from '~/format/row-order';
import { useNow } from '~/live/use-live';
import { useRights, useWhyNot } from '~/rights';

interface Props {
  row: RowView;
  slug: string;
  noun: string;
  /** Opened by a key as well. */
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** The actions on one row of a list. What is not possible stays in the menu, with the reason. */
export default function RowMenu({ row, slug, noun, open, onOpen }: Props) {
  return (
    <KeyMenu open={open} onOpen={onOpen} sideOffset={4} trigger={<DropdownMenu.Trigger className="btn quiet icon row-menu" aria-label={`Actions on ${subjectOf(row, noun)}`} data-row-menu><Ellipsis aria-hidden /></DropdownMenu.Trigger>}>
      {rowActionsOf(row.table).map((action) => <Item key={action} action={action} row={row} slug={slug} noun={noun} />)}
    </KeyMenu>
  );
}

function Item({ action, row, slug, noun }: { action: RowAction; row: RowView; slug: string; noun: string }) {
  const { open } = useDesk();
  const now = useNow();
  const rights = useRights();
  const barred = useWhyNot(action);
  const { possible, why } = possibleNow(action, row, now, rights);
  const can = possible && barred === null;
  return (
    <DropdownMenu.Item className="menu-item menu-action" aria-disabled={!can || undefined} data-action={action} onSelect={(event) => (can ? open(orderOf(action, row, slug, noun)) : event.preventDefault())}>
      <span>{actionWords(action).label}<span className="menu-why">{barred ?? why}</span></span>
    </DropdownMenu.Item>
  );
}
