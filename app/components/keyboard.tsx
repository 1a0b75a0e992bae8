import { useNavigate } from '@remix-run/react';
import { useEffect, useRef, useState } from 'react';
import { Dialog } from './ui/dialog';

const places: Record<string, string> = { n: '/', f: '/find', q: '/queues', r: '/reports', s: '/sessions', d: '/deployments', w: '/workers', e: '/redeploys', a: '/audit', ',': '/settings' };

/** After `g`, the letter must follow within this time (milliseconds), as it was pressed or as it was heard: a busy page hears late. */
const CHORD_MS = 1_200;

const keys = [
  ['/', 'Find anything'], ['ctrl k', 'The same, from within a field; ⌘ k on a Mac'], ['f', 'Filter this list'],
  ['g n', 'Now'], ['g f', 'Find'], ['g q', 'Queues'], ['g r', 'Reports'], ['g s', 'Sessions'], ['g d', 'Deployments'], ['g w', 'Workers'], ['g e', 'Redeploys'], ['g a', 'Audit'], ['g ,', 'Settings'], ['j  k', 'Next, previous row'],
  ['x', 'Select the row'], ['a', 'Act on the row, or on those selected'], ['enter', 'Open the row'], ['esc', 'Leave the list'], ['?', 'This help'],
] as const;

/** Page-wide keys and their help. Rows listen for their own (see row-keys.ts), and so does the palette (find-launcher.tsx). */
export function Keyboard() {
  const [help, setHelp] = useState(false);
  const navigate = useNavigate();
  const begun = useRef({ pressed: -Infinity, heard: -Infinity });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || document.querySelector('[role=dialog]')) return;
      const heard = performance.now();
      const chord = Math.min(event.timeStamp - begun.current.pressed, heard - begun.current.heard) < CHORD_MS;
      begun.current = event.key === 'g' ? { pressed: event.timeStamp, heard } : { pressed: -Infinity, heard: -Infinity };
      if (chord && places[event.key]) navigate(places[event.key]!);
      else if (event.key === '?') setHelp(true);
      else if (event.key === 'f') focusFilter(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
  return (
    <Dialog open={help} onOpenChange={setHelp} title="Keyboard" description="Everything here can be reached without a mouse.">
      <dl className="grid grid-cols-[96px_1fr] gap-y-2 m-0">
        {keys.map(([key, what]) => <Key key={key} keys={key} what={what} />)}
      </dl>
    </Dialog>
  );
}

function Key({ keys, what }: { keys: string; what: string }) {
  return (
    <>
      <dt className="flex gap-1 items-start">{keys.split(/\s+/).map((key) => <kbd key={key}>{key}</kbd>)}</dt>
      <dd className="m-0">{what}</dd>
    </>
  );
}

/** Keys meant for a field, or combined with a modifier, are not ours. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  return event.target instanceof HTMLElement && event.target.closest('input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu]') !== null;
}

function focusFilter(event: KeyboardEvent) {
  const box = document.querySelector<HTMLInputElement>('[data-filter-box]');
  if (!box) return;
  event.preventDefault();
  box.focus();
  box.select();
}
