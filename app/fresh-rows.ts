import { useRevalidator } from '@remix-run/react';
import { useCallback } from 'react';
import { useReRead } from './re-read';

/** New rows that arrive together are shown together (milliseconds); also the least time between two re-reads. */
const GATHER_MS = 700;

export interface FreshRows {
  count: number;
  show: () => void;
}

/** New rows join the list by themselves, unless someone is reading it: then they wait behind the pill. */
export function useFreshRows(fresh: readonly string[], reading: boolean): FreshRows {
  const { revalidate } = useRevalidator();
  useReRead(fresh.length > 0 && !reading ? GATHER_MS : null);
  const show = useCallback(() => {
    window.scrollTo({ top: 0 });
    revalidate();
  }, [revalidate]);
  return { count: reading ? fresh.length : 0, show };
}
