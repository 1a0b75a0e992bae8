import { useCallback, useMemo, useState } from 'react';

export interface Selection {
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
  all: (ids: readonly string[]) => void;
  clear: () => void;
}

/** Rows picked in a list. A row that is no longer shown is no longer picked. */
export function useSelection(rows: readonly { id: string }[]): Selection {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const ids = useMemo(() => new Set(rows.map((row) => row.id).filter((id) => picked.has(id))), [rows, picked]);
  const toggle = useCallback((id: string) => setPicked((before) => {
    const after = new Set(before);
    if (!after.delete(id)) after.add(id);
    return after;
  }), []);
  const all = useCallback((wanted: readonly string[]) => setPicked(new Set(wanted)), []);
  const clear = useCallback(() => setPicked(new Set()), []);
  return { ids, toggle, all, clear };
}
