import type { KeyboardEvent } from 'react';

/**
 * Radix listens for an escape only some renders after the focus has come to a dialog, where a menu has just made room for it or its field took
 * the focus by itself. One that comes before that is heard by this.
 */
export function onEarlyEscape(close: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    close();
  };
}
