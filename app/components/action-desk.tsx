import type { ReactNode } from 'react';
import { createContext, lazy, Suspense, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import type { Order } from '~/acting';
import type { BulkOrder } from '~/bulk';

// The page is usable before these arrive; they are fetched as soon as it is, so that a card opens at once.
const loadCard = () => import('./action-card');
const loadBulk = () => import('./action-bulk');
const loadToasts = () => import('./ui/toasts');
const ActionCard = lazy(loadCard);
const BulkCard = lazy(loadBulk);
const Toasts = lazy(loadToasts);

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
  const [told, setTold] = useState(false);
  const openBulk = useCallback((order: BulkOrder) => {
    from.current = pressed();
    setTold(true);
    setBulk((last) => (last && !last.over ? { ...last, aside: false } : { order, n: (last?.n ?? 0) + 1, aside: false, over: false }));
  }, []);
  const setAside = useCallback((aside: boolean) => setBulk((last) => last && { ...last, aside }), []);
  const end = useCallback((summary: string) => {
    setBulk((last) => last && { ...last, over: true });
    void loadToasts().then(({ announce }) => announce(summary, { label: 'Show', onClick: () => setAside(false) }));
  }, [setAside]);
  /** The button may have left the page with its row, and a key may have given the focus to something else meanwhile: this comes in a timer. */
  const giveFocusBack = useCallback(() => {
    if (document.activeElement === document.body) (from.current?.isConnected ? from.current : document.getElementById('content'))?.focus();
  }, []);
  useEffect(() => {
    for (const load of [loadCard, loadBulk, loadToasts]) load().catch(() => undefined); // asked for again when it is needed
  }, []);
  const desk = useMemo(() => ({ open, openBulk }), [open, openBulk]);
  return (
    <DeskContext.Provider value={desk}>
      {children}
      {card || bulk || told ? (
        <Suspense>
          {card ? <ActionCard key={card.n} order={card.order} onClose={() => setCard(null)} onClosed={giveFocusBack} /> : null}
          {bulk ? <BulkCard key={bulk.n} order={bulk.order} aside={bulk.aside} setAside={setAside} onClose={() => setBulk(null)} onClosed={giveFocusBack} onEnded={end} /> : null}
          {told ? <Toasts /> : null}
        </Suspense>
      ) : null}
    </DeskContext.Provider>
  );
}

/** The button that was pressed, or the one whose menu it was in. */
function pressed(): HTMLElement | null {
  const active = document.activeElement as HTMLElement | null;
  const menu = active?.closest('[role=menu]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active;
}
