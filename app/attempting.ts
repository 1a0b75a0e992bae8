import { useRevalidator } from '@remix-run/react';
import { useRef, useState } from 'react';
import { act, newAttempt, type Answered, type Order } from '~/acting';

export interface Attempting {
  pending: boolean;
  /** The answer to the last press; null before the first and while one is under way. */
  answer: Answered | null;
  /** Whether an attempt from here may have taken effect without a word; `this`: the next press repeats it, and tells. */
  doubt: 'this' | 'earlier' | null;
  press: (order: Order, reason: string, confirmation: string) => void;
  /** The order has become another one: what was answered no longer belongs to it. */
  renew: () => void;
}

/**
 * One attempt, one id: made before the first press, kept while its outcome is not known, so that a second press, a double-click or a press
 * after a lost connection is the same attempt. A definite answer ends it; the next press is a new one.
 */
export function useAttempt(): Attempting {
  const [pending, setPending] = useState(false);
  const [answer, setAnswer] = useState<Answered | null>(null);
  const attempt = useRef<string | null>(null);
  const [doubted, setDoubted] = useState<string | null>(null);
  const busy = useRef(false);
  const { revalidate } = useRevalidator();
  attempt.current ??= newAttempt();
  const press: Attempting['press'] = (order, reason, confirmation) => {
    if (busy.current) return;
    busy.current = true;
    setPending(true);
    setAnswer(null);
    const id = attempt.current!;
    void act(order, id, reason, confirmation).then((answered) => {
      busy.current = false;
      if (answered.outcome === 'unknown') setDoubted(id);
      else if (answered.outcome !== 'not_done') {
        attempt.current = newAttempt();
        setDoubted((last) => (last === id ? null : last));
      }
      setAnswer(answered);
      setPending(false);
      revalidate();
    });
  };
  const renew = () => {
    attempt.current = newAttempt();
    setAnswer(null);
  };
  const doubt = doubted === null ? null : doubted === attempt.current ? 'this' : 'earlier';
  return { pending, answer, doubt, press, renew };
}
