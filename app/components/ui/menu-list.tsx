import { DropdownMenu } from 'radix-ui';
import type { FocusEventHandler, KeyboardEvent, ReactNode } from 'react';
import { useRef } from 'react';

interface Props {
  /** In pixels, between the trigger and the menu. */
  sideOffset: number;
  onFocus?: FocusEventHandler<HTMLElement>;
  children: ReactNode;
}

/** The keys that move through a menu or choose in it. */
const isOfMenu = ({ key, ctrlKey, altKey, metaKey }: KeyboardEvent) => !ctrlKey && !altKey && !metaKey && (key.length === 1 || ['Enter', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'].includes(key));

/** The focus is given back to the button in a timer. If a key has given it to something else meanwhile, it stays there. */
const leaveWhereItIs = (event: Event) => void (document.activeElement !== document.body && event.preventDefault());

/**
 * What a menu shows once it is open. Radix moves the focus in a timer after the key: on a busy page the next key would come before it, and
 * enter would choose the entry that was left. So each key waits until the one before it has moved the focus.
 */
export function MenuList({ sideOffset, onFocus, children }: Props) {
  const waiting = useRef<string[]>([]);
  const moving = useRef(false);
  const onKeyDownCapture = (event: KeyboardEvent<HTMLElement>) => {
    if (!isOfMenu(event)) return;
    if (moving.current) {
      event.preventDefault();
      event.stopPropagation();
      waiting.current.push(event.key);
      return;
    }
    const menu = event.currentTarget;
    moving.current = true;
    // Its own timer is set after this one: the inner one comes behind it.
    setTimeout(() => setTimeout(() => playNext(menu)));
  };
  const playNext = (menu: HTMLElement) => {
    moving.current = false;
    const at = document.activeElement;
    const key = menu.isConnected && menu.contains(at) ? waiting.current.shift() : undefined;
    if (key === undefined) {
      waiting.current = [];
      return;
    }
    at!.dispatchEvent(new window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  };
  return (
    <DropdownMenu.Portal>
      <DropdownMenu.Content className="menu" align="end" sideOffset={sideOffset} collisionPadding={8} onFocus={onFocus} onKeyDownCapture={onKeyDownCapture} onCloseAutoFocus={leaveWhereItIs}>{children}</DropdownMenu.Content>
    </DropdownMenu.Portal>
  );
}
