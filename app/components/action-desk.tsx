import type { ReactNode } from 'react';
import { createContext, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { toast, Toaster } from 'sonner';
import { ActionCard } from './action-card';
import { BulkCard } from './action-bulk';
import type { Order } from '~/acting';
import type { BulkOrder } from '~/bulk';

interface Desk {
  open(order: Order): void;
  /** One at a time: while one is under way its card comes back instead. */
  openBulk(order: BulkOrder): void;
}

const DeskContext = createContext<Desk>({ open() {}, openBulk() {} });

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
  const [bulk, setBulk] = useState<{ order: BulkOrder; n: number; aside: boolean; over: boolean } | null>(null);
  const openBulk = useCallback((order: BulkOrder) => {
    from.current = pressed();
    setBulk((last) => (last && !last.over ? { ...last, aside: false } : { order, n: (last?.n ?? 0) + 1, aside: false, over: false }));
  }, []);
  const setAside = useCallback((aside: boolean) => setBulk((last) => last && { ...last, aside }), []);
  const end = useCallback((summary: string) => {
    setBulk((last) => last && { ...last, over: true });
    toast(summary, { duration: Infinity, closeButton: true, action: { label: 'Show', onClick: () => setAside(false) } });
  }, [setAside]);
  /** The button may have left the page with its row. */
  const giveFocusBack = useCallback(() => (from.current?.isConnected ? from.current : document.getElementById('content'))?.focus(), []);
  const desk = useMemo(() => ({ open, openBulk }), [open, openBulk]);
  return (
    <DeskContext.Provider value={desk}>
      {children}
      {card ? <ActionCard key={card.n} order={card.order} onClose={() => setCard(null)} onClosed={giveFocusBack} /> : null}
      {bulk ? <BulkCard key={bulk.n} order={bulk.order} aside={bulk.aside} setAside={setAside} onClose={() => setBulk(null)} onClosed={giveFocusBack} onEnded={end} /> : null}
      <Toaster position="bottom-right" toastOptions={{ unstyled: true, classNames: { toast: 'toast', actionButton: 'btn', closeButton: 'btn quiet icon' } }} />
    </DeskContext.Provider>
  );
}

/** The button that was pressed, or the one whose menu it was in. */
function pressed(): HTMLElement | null {
  const active = document.activeElement as HTMLElement | null;
  const menu = active?.closest('[role=menu]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active;
}
