import { useId } from 'react';
import { useDesk } from './action-desk';
import { Button } from './ui/button';
import type { Order } from '~/acting';
import { actionWords } from '~/format/action-words';
import { useWhyNot } from '~/rights';

interface Props {
  order: Order;
  label?: string;
  /** Why it is not possible now, as far as the page knows. */
  why?: string | null;
  /** The reason is written beside the button already. */
  quietly?: boolean;
}

/** Opens the action's card. One that is of no use now stays where it is, can be reached, and says why. */
export function ActionButton({ order, label, why, quietly = false }: Props) {
  const { open } = useDesk();
  const id = useId();
  const whyNot = useWhyNot(order.action) ?? why ?? null;
  return (
    <>
      <Button onClick={() => (whyNot === null ? open(order) : undefined)} aria-disabled={whyNot !== null || undefined} aria-describedby={whyNot === null ? undefined : id}
        title={quietly ? undefined : (whyNot ?? undefined)} data-action={order.action}>
        {label ?? actionWords(order.action).label}<span className="visually-hidden">: {order.subject}</span>
      </Button>
      {whyNot === null ? null : <span id={id} className="visually-hidden">{whyNot}</span>}
    </>
  );
}
