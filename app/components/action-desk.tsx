import type { ReactNode } from 'react';
import { createContext, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { ActionCard } from './action-card';
import type { Order } from '~/acting';

interface Desk {
  open(order: Order): void;
}

const DeskContext = createContext<Desk>({ open() {} });

/** Opens the card. It belongs to the console, not to the row or list whose button was pressed: those may leave the page meanwhile. */
export function useDesk(): Desk {
  return useContext(DeskContext);
}

export function ActionDesk({ children }: { children: ReactNode }) {
  const [card, setCard] = useState<{ order: Order; n: number } | null>(null);
  const from = useRef<HTMLElement | null>(null);
  const open = useCallback((order: Order) => {
    from.current = pressed();
    setCard((last) => ({ order, n: (last?.n ?? 0) + 1 }));
  }, []);
  /** The button may have left the page with its row. */
  const giveFocusBack = useCallback(() => (from.current?.isConnected ? from.current : document.getElementById('content'))?.focus(), []);
  const desk = useMemo(() => ({ open }), [open]);
  return (
    <DeskContext.Provider value={desk}>
      {children}
      {card ? <ActionCard key={card.n} order={card.order} onClose={() => setCard(null)} onClosed={giveFocusBack} /> : null}
    </DeskContext.Provider>
  );
}

/** The button that was pressed, or the one whose menu it was in. */
function pressed(): HTMLElement | null {
  const active = document.activeElement as HTMLElement | null;
  const menu = active?.closest('[role=menu]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active;
}
