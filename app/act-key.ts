import { useEffect, useRef, useState } from 'react';
import { isTyping } from '~/components/keyboard';

export interface ActMenu {
  /** `bulk`, the id of a row, or null: whose menu of actions is open. */
  menu: string | null;
  setMenu: (menu: string | null) => void;
}

/** `a` opens the actions on the selected rows; without a selection, those on the row under the cursor. */
export function useActKey(selected: number, cursor: string | null): ActMenu {
  const [menu, setMenu] = useState<string | null>(null);
  const latest = useRef({ selected, cursor });
  latest.current = { selected, cursor };
  const chord = useRef(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const after = chord.current;
      chord.current = event.key === 'g';
      if (after || event.key !== 'a' || isTyping(event) || document.querySelector('[role=dialog]')) return;
      const { selected: n, cursor: at } = latest.current;
      const next = n > 0 ? 'bulk' : at;
      if (next === null) return;
      event.preventDefault();
      setMenu(next);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return { menu, setMenu };
}
