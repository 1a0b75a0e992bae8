import { useLocation } from '@remix-run/react';
import { Search } from 'lucide-react';
import type { RefObject } from 'react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { isTyping } from './keyboard';
import type { Place } from '~/format/find-words';

const load = () => import('./find-palette');
const FindPalette = lazy(load);

/** `/` and ⌘K or Ctrl-K open the palette from anywhere. Its script comes after the page; what is typed before it is there is kept for it. */
export function FindLauncher({ operator, places }: { operator: string; places: readonly Place[] }) {
  const [open, setOpen] = useState(false);
  const early = useEarlyKeys(open);
  useOpeningKeys(() => setOpen(true));
  useEffect(() => void load().catch(() => {}), []);
  const { key } = useLocation();
  useEffect(() => setOpen(false), [key]);
  return (
    <>
      <button type="button" className="btn find-button" aria-keyshortcuts="/ Control+K Meta+K" onClick={() => setOpen(true)}><Search aria-hidden /><span>Find</span><kbd aria-hidden="true">/</kbd></button>
      {open ? <Suspense fallback={null}><Ready early={early} operator={operator} places={places} onClose={() => setOpen(false)} /></Suspense> : null}
    </>
  );
}

/** Made anew when the script has come: then it reads all that was typed meanwhile. */
function Ready({ early, ...props }: { early: RefObject<string>; operator: string; places: readonly Place[]; onClose: () => void }) {
  const [typed] = useState(() => early.current ?? '');
  return <FindPalette early={typed} {...props} />;
}

/** Letters between the opening key and the first moment of the palette are meant for it, and for no shortcut of the page. */
function useEarlyKeys(open: boolean): RefObject<string> {
  const typed = useRef('');
  useEffect(() => {
    if (!open) return;
    typed.current = '';
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector('[role=dialog]') || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Backspace') typed.current = typed.current.slice(0, -1);
      else if (event.key.length === 1) typed.current += event.key;
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    document.addEventListener('keydown', onKey, true);
    return () => document.removeEventListener('keydown', onKey, true);
  }, [open]);
  return typed;
}

function useOpeningKeys(open: () => void) {
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const chord = (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k';
      if (!chord && (event.key !== '/' || isTyping(event))) return;
      if (document.querySelector('[role=dialog]')) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
