import { useCallback, useSyncExternalStore } from 'react';

const KEY = 'leaseboard.find.recent';
const KEPT = 8;
/** A longer input is a pasted text, not a name: it is searched, and not kept. */
const LONGEST = 120;

/** Recent searches stay in this browser, for this operator; someone else who signs in here does not see them. */
interface Stored {
  operator: string;
  searches: string[];
}

const none: readonly string[] = [];
const listeners = new Set<() => void>();
let cached: { raw: string | null; stored: Stored | null } = { raw: null, stored: null };

export interface Recent {
  searches: readonly string[];
  /** Only what was typed, and only when it was opened. */
  remember(text: string): void;
  clear(): void;
}

export function useRecent(operator: string): Recent {
  const stored = useSyncExternalStore(subscribe, read, () => null);
  const searches = stored?.operator === operator ? stored.searches : none;
  const remember = useCallback((text: string) => {
    if (text === '' || text.length > LONGEST) return;
    const before = read();
    const own = before?.operator === operator ? before.searches : [];
    write({ operator, searches: [text, ...own.filter((other) => other !== text)].slice(0, KEPT) });
  }, [operator]);
  return { searches, remember, clear: useCallback(() => write(null), []) };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Storage may be forbidden, and its content anybody's. */
function read(): Stored | null {
  try {
    const raw = localStorage.getItem(KEY);
    if (raw !== cached.raw) cached = { raw, stored: parsed(raw) };
  } catch {
    return null;
  }
  return cached.stored;
}

function parsed(raw: string | null): Stored | null {
  const value: unknown = raw === null ? null : JSON.parse(raw);
  if (typeof value !== 'object' || value === null || !('operator' in value) || !('searches' in value) || !Array.isArray(value.searches)) return null;
  return { operator: String(value.operator), searches: value.searches.filter((text) => typeof text === 'string').slice(0, KEPT) };
}

function write(stored: Stored | null): void {
  try {
    if (stored) localStorage.setItem(KEY, JSON.stringify(stored));
    else localStorage.removeItem(KEY);
  } catch {
    return;
  }
  for (const listener of listeners) listener();
}
