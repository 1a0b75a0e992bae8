import { useNavigation, useRevalidator } from '@remix-run/react';
import { useEffect, useRef } from 'react';

/**
 * Reads the page's loaders again after `ms`, and again for as long as it is wanted (null: not): one reading after the other, none while nobody
 * looks, and none in the way of a link that was followed. The timer goes on by itself: on a busy machine a reading may come and go between
 * two paints, and whoever waits to see it under way waits for ever.
 */
export function useReRead(ms: number | null): void {
  const { revalidate, state } = useRevalidator();
  const idle = useNavigation().state === 'idle' && state === 'idle';
  const latest = useRef(idle);
  latest.current = idle;
  useEffect(() => {
    if (ms === null) return;
    const again = () => void (latest.current && document.visibilityState === 'visible' && revalidate());
    const timer = setInterval(again, ms);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [ms, revalidate]);
}
