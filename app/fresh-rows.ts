import { useRevalidator } from '@remix-run/react';
import { useCallback, useEffect } from 'react';

/** New rows that arrive together are shown together (milliseconds); also the least time between two re-reads. */
const GATHER_MS = 700;

export interface FreshRows {
  count: number;
  show: () => void;
}

/** New rows join the list by themselves, unless someone is reading it: then they wait behind the pill. */
export function useFreshRows(fresh: readonly string[], reading: boolean): FreshRows {
  const { revalidate, state } = useRevalidator();
  const waiting = fresh.length > 0 && !reading && state === 'idle';
  useEffect(() => {
    if (!waiting) return;
    const timer = setTimeout(revalidate, GATHER_MS);
    return () => clearTimeout(timer);
  }, [waiting, revalidate]);
  const show = useCallback(() => {
    window.scrollTo({ top: 0 });
    revalidate();
  }, [revalidate]);
  return { count: reading ? fresh.length : 0, show };
}
