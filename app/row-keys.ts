import { useNavigate } from '@remix-run/react';
import { useEffect, useRef, useState } from 'react';
import { isTyping } from '~/components/keyboard';
import type { Selection } from '~/selection';

/**
 * `j` `k` move a cursor through the rows, `x` selects, `enter` opens, `esc` leaves. Returns the id under the cursor. While `away`, keys are
 * meant for something else: a menu that was asked for and is still to come.
 */
export function useRowKeys(rows: readonly { id: string }[], selection: Selection, path: (id: string) => string, away = false): string | null {
  const [cursor, setCursor] = useState<string | null>(null);
  const navigate = useNavigate();
  const latest = useRef({ rows, selection, path, cursor, away });
  latest.current = { rows, selection, path, cursor, away };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (latest.current.away || isTyping(event) || document.querySelector('[role=dialog]')) return;
      const { rows: list, cursor: at, selection: picked, path: to } = latest.current;
      if (event.key === 'j' || event.key === 'k') return move(list, at, event.key === 'j' ? 1 : -1, setCursor);
      if (at === null) return;
      if (event.key === 'x') picked.toggle(at);
      else if (event.key === 'Escape') setCursor(null);
      else if (event.key === 'Enter' && !(event.target instanceof HTMLElement && event.target.closest('a, button'))) navigate(to(at));
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
  return cursor;
}

function move(rows: readonly { id: string }[], at: string | null, step: 1 | -1, set: (id: string) => void) {
  const index = rows.findIndex((row) => row.id === at);
  const next = rows[index < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, index + step))];
  if (!next) return;
  set(next.id);
  document.querySelector(`[data-row-id="${next.id}"]`)?.scrollIntoView({ block: 'nearest' });
}
