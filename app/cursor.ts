import { useRowKeys } from './row-keys';
import type { Selection } from './selection';

const nothing: Selection = { ids: new Set(), toggle: () => {}, all: () => {}, clear: () => {} };

/** The row keys for a list in which nothing can be selected. Returns the id under the cursor. */
export function useCursor(rows: readonly { id: string }[], path: (id: string) => string): string | null {
  return useRowKeys(rows, nothing, path);
}
