import { useRevalidator } from '@remix-run/react';
import { useEffect } from 'react';

/**
 * Whether a link is being followed or a reading is under way, as the router knows it: what was drawn last is behind on a busy machine, where a
 * reading may even come and go between two paints. Asked again now, the router would break that reading off and begin anew; a page whose
 * answers take longer than its readings are apart would never see one.
 */
export function isReading(): boolean {
  const { navigation, revalidation } = window.__remixRouter.state;
  if (navigation.state === 'idle' && revalidation === 'idle') busySince = null;
  else busySince ??= performance.now();
  if (busySince === null || performance.now() - busySince < HUNG_MS) return busySince !== null;
  busySince = null;
  return false;
}

/** No answer of ours takes so long (milliseconds): one that does hangs on a connection that is dead, and is given up for a new one. */
const HUNG_MS = 30_000;
let busySince: number | null = null;

/** Reads the page's loaders again after `ms`, and again for as long as it is wanted (null: not): one reading after the other, and none while nobody looks. */
export function useReRead(ms: number | null): void {
  const { revalidate } = useRevalidator();
  useEffect(() => {
    if (ms === null) return;
    const again = () => void (document.visibilityState === 'visible' && !isReading() && revalidate());
    const timer = setInterval(again, ms);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [ms, revalidate]);
}
