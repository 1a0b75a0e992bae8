import type { KeyboardEvent } from 'react';

/** Radix hears an escape only some renders after the focus has come to what it shows. One that comes before that is heard by this. */
export function onEarlyEscape(close: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    close();
  };
}
