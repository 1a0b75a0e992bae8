import { useRevalidator } from '@remix-run/react';
import { useEffect, useRef } from 'react';

/** Least time between two re-reads of a page that follows a live row (milliseconds): a run of eighty checks is some forty reads, not eighty. */
const LEAST_MS = 2_000;

/** Reads the page's loader again when `mark` (what the live stream last said) changes, at most once in a while, and surely after the last change. */
export function useFollow(mark: string): void {
  const { revalidate } = useRevalidator();
  const read = useRef({ mark, at: -Infinity });
  useEffect(() => {
    if (read.current.mark === mark) return;
    const wait = Math.max(0, read.current.at + LEAST_MS - performance.now());
    const timer = setTimeout(() => {
      read.current = { mark, at: performance.now() };
      revalidate();
    }, wait);
    return () => clearTimeout(timer);
  }, [mark, revalidate]);
}
