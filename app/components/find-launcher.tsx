import { useNavigate } from '@remix-run/react';
import { Search } from 'lucide-react';
import type { MutableRefObject } from 'react';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { isTyping } from './keyboard';
import { useRecent } from '~/find-recent';
import { findPath, type Place } from '~/format/find-words';

const load = () => import('./find-palette');
const FindPalette = lazy(load);

/**
 * `/` and ⌘K or Ctrl-K open the palette from anywhere. Its script comes after the page; what is typed before it is there is kept for it, and an
 * enter does not wait for it.
 */
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
  const recent = useRecent(operator);
  const navigate = useNavigate();
  const go = useCallback((path: string, searched: string) => {
    recent.remember(searched);
    end();
    navigate(path);
  }, [recent.remember, end, navigate]);
  useKeys(early, { begin, end, go });
  useEffect(() => void load().catch(() => {}), []);
  return (
    <>
      <button type="button" className="btn find-button" aria-keyshortcuts="/ Control+K Meta+K" aria-label="Find" onClick={begin}><Search aria-hidden /><span>Find</span><kbd aria-hidden="true">/</kbd></button>
      {open ? <Suspense fallback={null}><FindPalette early={early} before={before} recent={recent} places={places} onOpen={go} onClose={end} /></Suspense> : null}
    </>
  );
}

interface Moves {
  begin: () => void;
  end: () => void;
  go: (path: string, searched: string) => void;
}

/**
 * The keys that open it, and those between them and the moment in which its field has the focus: they are meant for it, and for no
 * shortcut of the page. `early` is null while it is closed. One listener, before all others: no state of a component is as quick as typing.
 */
function useKeys(early: MutableRefObject<string | null>, moves: Moves) {
  const latest = useRef(moves);
  latest.current = moves;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const opening = early.current === null;
      if (opening ? !opens(event) : !isForLater(event) && !isChord(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (opening) latest.current.begin();
      else if (!isChord(event)) take(early, event.key, latest.current);
    };
    document.addEventListener('keydown', onKey, true);
    return () => document.removeEventListener('keydown', onKey, true);
  }, [early]);
}

function isChord(event: KeyboardEvent): boolean {
  return (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k';
}

function opens(event: KeyboardEvent): boolean {
  return (isChord(event) || (event.key === '/' && !isTyping(event))) && document.querySelector('[role=dialog]') === null;
}

function isForLater(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || document.activeElement?.matches('.palette *')) return false;
  return ['Backspace', 'Enter', 'Escape'].includes(event.key) || event.key.length === 1;
}

function take(early: MutableRefObject<string | null>, key: string, { end, go }: Moves) {
  const text = early.current ?? '';
  const typed = text.trim();
  if (key === 'Escape') end();
  else if (key === 'Backspace') early.current = text.slice(0, -1);
  else if (key !== 'Enter') early.current = text + key;
  else if (typed !== '') go(findPath(typed), typed);
}
