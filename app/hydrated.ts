import { useSyncExternalStore } from 'react';

const never = () => () => {};

/** False on the server and in the first paint, true from then on: for what only the browser knows (its zone, its clipboard). */
export function useHydrated(): boolean {
  return useSyncExternalStore(never, () => true, () => false);
}
