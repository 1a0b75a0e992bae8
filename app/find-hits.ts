import { useEffect, useState } from 'react';
import type { FindAnswer } from '../server/console/find-view.js';

/** A pause in typing (milliseconds) after which it is worth asking. */
const PAUSE_MS = 130;

export interface Hits {
  /** To the text that is typed now, or to an earlier one while that is asked for. */
  answer: FindAnswer | null;
  /** What the answer is to. */
  asked: string;
  status: 'idle' | 'asking' | 'ready' | 'slow' | 'failed';
}

const nothing: Hits = { answer: null, asked: '', status: 'idle' };

/** Asks while somebody types. A question that was overtaken is aborted, and an answer that comes all the same is dropped. */
export function useHits(text: string): Hits {
  const [hits, setHits] = useState(nothing);
  useEffect(() => {
    if (text === '') return setHits(nothing);
    setHits((before) => ({ ...before, status: 'asking' }));
    const controller = new AbortController();
    const timer = setTimeout(() => {
      ask(text, controller.signal).then((found) => {
        if (!controller.signal.aborted) setHits(found);
      }, () => {
        if (!controller.signal.aborted) setHits({ answer: null, asked: text, status: 'failed' });
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  return hits;
}

/** Somebody who is signed out is sent to the sign-in page, which is no answer. */
async function ask(text: string, signal: AbortSignal): Promise<Hits> {
  const response = await fetch(`/find/hits?${new URLSearchParams({ q: text })}`, { signal, headers: { accept: 'application/json' } });
  if (!response.ok || response.redirected) throw new Error(`The server answered ${response.status}`);
  const answer = await response.json() as FindAnswer | null;
  return { answer, asked: text, status: answer ? 'ready' : 'slow' };
}
