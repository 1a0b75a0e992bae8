import { useEffect, useRef } from 'react';
import { isTyping } from '~/components/keyboard';

/** `a` opens the actions on the selected rows (`bulk`); without a selection, those on the row under the cursor. `esc` takes that back before they are there. */
export function useActKey(selected: number, cursor: string | null, setMenu: (menu: string | null) => void): void {
  const latest = useRef({ selected, cursor });
  latest.current = { selected, cursor };
  const chord = useRef(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const after = chord.current;
      chord.current = event.key === 'g';
      if (event.key === 'Escape' && !isTyping(event)) return setMenu(null);
      if (after || event.key !== 'a' || isTyping(event) || document.querySelector('[role=dialog]')) return;
      const { selected: n, cursor: at } = latest.current;
      const next = n > 0 ? 'bulk' : at;
      if (next === null) return;
      event.preventDefault();
      setMenu(next);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [setMenu]);
}
