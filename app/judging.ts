import { useCallback, useEffect, useRef, useState } from 'react';
import { readCard, type CardView, type Order } from '~/acting';

/** Re-read at the latest after this (ms): some of what an action is judged by is no change of the row itself. */
const AGAIN_MS = 10_000;
/** Least time between two readings (ms): each runs the action's own statement. */
const LEAST_MS = 1_000;

export interface Judging {
  /** The last reading; null before the first. */
  view: CardView | null;
  /** Why the last try to read failed. */
  fault: string | null;
  /** Asks for a new reading soon. */
  again: () => void;
}

/** Reads the card when it opens, when `again` is called, and every so often. The newest answer wins; a failed try keeps the last one and says so. */
export function useJudging(order: Order, done: boolean): Judging {
  const [view, setView] = useState<CardView | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [asked, setAsked] = useState(0);
  const readAt = useRef(-Infinity);
  const again = useCallback(() => setAsked((n) => n + 1), []);
  useEffect(() => {
    if (done) return;
    const controller = new AbortController();
    const timer = setTimeout(read, Math.max(0, readAt.current + LEAST_MS - performance.now()));
    const next = setTimeout(again, AGAIN_MS);
    function read() {
      readAt.current = performance.now();
      readCard(order, controller.signal).then(
        (answer) => {
          setView(answer);
          setFault(null);
        },
        (error: Error) => void (controller.signal.aborted || setFault(error.message)),
      );
    }
    return () => {
      controller.abort();
      clearTimeout(timer);
      clearTimeout(next);
    };
  }, [order, asked, done, again]);
  return { view, fault, again };
}
