import { useEffect, useRef } from 'react';

/**
 * For the form around a filter box. `current`: the address of the list. Once what was sent from the box has become part of it the box is empty
 * again; what was typed while another filter was on its way stays.
 */
export function useFilterBox(current: string) {
  const ref = useRef<HTMLFormElement>(null);
  const sent = useRef<string | null>(null);
  const typed = () => ref.current?.querySelector<HTMLInputElement>('[data-filter-box]')?.value ?? '';
  useEffect(() => {
    if (sent.current === typed()) ref.current?.reset();
    sent.current = null;
  }, [current]);
  return { ref, onSubmit: () => { sent.current = typed(); } };
}
