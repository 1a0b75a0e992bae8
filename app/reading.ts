import { useEffect, useState } from 'react';

/** Scrolled further than this (pixels), someone is in the middle of the list. */
const SCROLLED = 60;

/** Whether someone is in the middle of the list, by scrolling or with the row keys: then nothing may move. */
export function useReading(): boolean {
  const [reading, setReading] = useState(false);
  useEffect(() => {
    const look = () => setReading(window.scrollY > SCROLLED || document.querySelector('[data-cursor=true], tr:hover') !== null);
    const events = ['scroll', 'pointerover', 'keyup', 'focusin'] as const;
    for (const event of events) document.addEventListener(event, look, { passive: true });
    return () => {
      for (const event of events) document.removeEventListener(event, look);
    };
  }, []);
  return reading;
}
