import { useEffect, useState } from 'react';

/** Scrolled further than this (pixels), someone is in the middle of the list. */
const SCROLLED = 60;

export interface Reading {
  reading: boolean;
  /** For the list itself: a pointer over it is someone's eye on a row. */
  watch: { onPointerEnter: () => void; onPointerLeave: () => void };
}

/** Whether someone is in the middle of the list, by scrolling, pointing or with the row keys: then nothing may move. */
export function useReading(cursor: string | null): Reading {
  const [scrolled, setScrolled] = useState(false);
  const [pointed, setPointed] = useState(false);
  useEffect(() => {
    const look = () => setScrolled(window.scrollY > SCROLLED);
    look();
    document.addEventListener('scroll', look, { passive: true });
    return () => document.removeEventListener('scroll', look);
  }, []);
  return { reading: scrolled || pointed || cursor !== null, watch: { onPointerEnter: () => setPointed(true), onPointerLeave: () => setPointed(false) } };
}
