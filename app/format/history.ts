import type { AuditEntry } from '../../server/console/audit.js';
import type { EventView } from '../../server/console/row-page.js';

/** A row's history: transitions as the engine recorded them, and what people did or tried. */
export type HistoryItem = { at: number; event: EventView; action: null } | { at: number; event: EventView | null; action: AuditEntry };

/** The transition that an action makes, in its own transaction: told once, as what the person did. */
const causes: Readonly<Record<string, readonly string[]>> = {
  release: ['release'], force_release: ['force_release'], rekick: ['rekick', 'publish'], cancel: ['cancel', 'cancel_requested'], clear_lock: ['clear'],
};

/** Both are written in one transaction, each with the clock's time when it was (ms). */
const TOGETHER_MS = 5_000;

/** Newest first. `more`: older transitions were left out, and so is what people did before them. */
export function historyOf(events: readonly EventView[], actions: readonly AuditEntry[], more: boolean): HistoryItem[] {
  const told = new Set<EventView>();
  const oldest = more ? (events.at(-1)?.at ?? -Infinity) : -Infinity;
  const deeds = actions.filter(({ at }) => at >= oldest).map((action): HistoryItem => {
    const event = action.outcome === 'applied' ? nearest(events.filter((each) => !told.has(each) && causes[action.action]?.includes(each.cause)), action.at) : null;
    if (event) told.add(event);
    return { at: action.at, event, action };
  });
  const rest = events.filter((event) => !told.has(event)).map((event): HistoryItem => ({ at: event.at, event, action: null }));
  return [...rest, ...deeds].sort((a, b) => b.at - a.at);
}

function nearest(events: readonly EventView[], at: number): EventView | null {
  const near = events.filter((event) => Math.abs(event.at - at) < TOGETHER_MS);
  return near.sort((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0] ?? null;
}
