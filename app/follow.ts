import { useRevalidator } from '@remix-run/react';
import { useEffect, useRef } from 'react';
import { isReading } from './re-read';

/** Least time between two re-reads of a page that follows a live row (milliseconds): a run of eighty checks is some forty reads, not eighty. */
const LEAST_MS = 2_000;
/** While a reading is under way, the next is asked for when it has ended, or so much later (milliseconds). */
const ENDED_MS = 100;

/** Reads the page's loader again when `mark` (what the live stream last said) changes, at most once in a while, and surely after the last change. */
export function useFollow(mark: string): void {
  const { revalidate } = useRevalidator();
  const read = useRef({ mark, at: -Infinity });
  useEffect(() => {
    if (read.current.mark === mark) return;
    let timer = setTimeout(again, Math.max(0, read.current.at + LEAST_MS - performance.now()));
    function again() {
      if (isReading()) return void (timer = setTimeout(again, ENDED_MS));
      read.current = { mark, at: performance.now() };
      revalidate();
    }
    return () => clearTimeout(timer);
  }, [mark, revalidate]);
}
