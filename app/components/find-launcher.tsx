import { Search } from 'lucide-react';
import type { MutableRefObject } from 'react';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { isTyping } from './keyboard';
import type { Place } from '~/format/find-words';

const load = () => import('./find-palette');
const FindPalette = lazy(load);

/** `/` and ⌘K or Ctrl-K open the palette from anywhere. Its script comes after the page; what is typed before it is there is kept for it. */
export function FindLauncher({ operator, places }: { operator: string; places: readonly Place[] }) {
  const [open, setOpen] = useState(false);
  const early = useRef<string | null>(null);
  const before = useRef<Element | null>(null);
  const begin = useCallback(() => {
    before.current = document.activeElement;
    early.current = '';
    setOpen(true);
  }, []);
  const end = useCallback(() => {
    early.current = null;
    setOpen(false);
  }, []);
  useKeys(early, begin);
  useEffect(() => void load().catch(() => {}), []);
  return (
    <>
      <button type="button" className="btn find-button" aria-keyshortcuts="/ Control+K Meta+K" aria-label="Find" onClick={begin}><Search aria-hidden /><span>Find</span><kbd aria-hidden="true">/</kbd></button>
      {open ? <Suspense fallback={null}><FindPalette early={early} before={before} operator={operator} places={places} onClose={end} /></Suspense> : null}
    </>
  );
}

/**
 * The keys that open it, and the letters between them and the moment in which its field has the focus: they are meant for it, and for no
 * shortcut of the page. `early` is null while it is closed. One listener, before all others: no state of a component is as quick as typing.
 */
function useKeys(early: MutableRefObject<string | null>, begin: () => void) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const opening = early.current === null;
      if (opening ? !opens(event) : !isForLater(event) && !isChord(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (opening) begin();
      else if (!isChord(event)) keep(early, event);
    };
    document.addEventListener('keydown', onKey, true);
    return () => document.removeEventListener('keydown', onKey, true);
  }, [early, begin]);
}

function isChord(event: KeyboardEvent): boolean {
  return (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k';
}

function opens(event: KeyboardEvent): boolean {
  return (isChord(event) || (event.key === '/' && !isTyping(event))) && document.querySelector('[role=dialog]') === null;
}

function isForLater(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || document.activeElement?.matches('.palette *')) return false;
  return event.key === 'Backspace' || event.key.length === 1;
}

function keep(early: MutableRefObject<string | null>, { key }: KeyboardEvent) {
  const kept = early.current ?? '';
  early.current = key === 'Backspace' ? kept.slice(0, -1) : kept + key;
}
