import { useRevalidator } from '@remix-run/react';
import { useRef, useState } from 'react';
import { act, newAttempt, type Answered, type Order } from '~/acting';

export interface Attempting {
  pending: boolean;
  /** The answer to the last press; null before the first and while one is under way. */
  answer: Answered | null;
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
  const busy = useRef(false);
  const { revalidate } = useRevalidator();
  attempt.current ??= newAttempt();
  const press: Attempting['press'] = (order, reason, confirmation) => {
    if (busy.current) return;
    busy.current = true;
    setPending(true);
    setAnswer(null);
    void act(order, attempt.current!, reason, confirmation).then((answered) => {
      busy.current = false;
      if (answered.outcome !== 'unknown') attempt.current = newAttempt();
      setAnswer(answered);
      setPending(false);
      revalidate();
    });
  };
  const renew = () => {
    attempt.current = newAttempt();
    setAnswer(null);
  };
  return { pending, answer, press, renew };
}
