import { DropdownMenu } from 'radix-ui';
import type { FocusEvent, ReactNode } from 'react';
import { useRef } from 'react';
import { MenuList } from './menu-list';

interface Props {
  open: boolean;
  onOpen: (open: boolean) => void;
  /** A `DropdownMenu.Trigger`. */
  trigger: ReactNode;
  /** In pixels, between the trigger and the menu. */
  sideOffset: number;
  children: ReactNode;
}

/**
 * A menu that a key of the page opens as well. One whose script came only after that key has seen none pressed, and takes its reader for
 * somebody with a mouse: the focus then goes to its first entry from here.
 */
export function KeyMenu({ open, onOpen, trigger, sideOffset, children }: Props) {
  const opened = useRef(open);
  const toFirst = (event: FocusEvent<HTMLElement>) => {
    if (!opened.current || event.target !== event.currentTarget) return;
    opened.current = false;
    event.currentTarget.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  };
  return (
    <DropdownMenu.Root modal={false} open={open} onOpenChange={onOpen}>
      {trigger}
      <MenuList sideOffset={sideOffset} onFocus={toFirst}>{children}</MenuList>
    </DropdownMenu.Root>
  );
}
