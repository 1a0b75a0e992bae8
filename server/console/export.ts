import { csvLine } from './csv.js';

export type ExportFormat = 'csv' | 'json';
export type Cell = string | number | null;

/** An export ends here and says so in its last line: longer lists are read from the tables themselves. */
const EXPORT_CAP = 50_000;
const BATCH = 1_000;

/** A filtered list, newest first. */
export interface Exported<Item> {
  /** What they are called, many of them: in the JSON, and in the last line of a CSV that was cut off. */
  noun: string;
  headings: readonly string[];
  cells(item: Item): readonly Cell[];
  /** Those after the cursor (null: from the newest), at most `limit` or a page of the list's own; `next` is null when there are no more, or (`cut`) none that it can reach. @throws ReadTimeoutError */
  page(cursor: string | null, limit: number): Promise<{ items: Item[]; next: string | null; cut?: boolean }>;
}

/**
 * The list in batches that each are a short transaction: the database holds nothing open while a slow client reads. What changes meanwhile
 * appears as it was when its batch was read. Ends at `cap` items and says so. @throws ReadTimeoutError
 */
export async function* exportList<Item>({ noun, headings, cells, page }: Exported<Item>, format: ExportFormat, cap = EXPORT_CAP): AsyncGenerator<string> {
  let written = 0;
  let cursor: string | null = null;
  yield format === 'csv' ? csvLine(headings) : `{"${noun}":[`;
  for (;;) {
    const { items, next, cut = false } = await page(cursor, Math.min(BATCH, cap - written));
    const kept = items.slice(0, cap - written);
    // Also an empty part: only here is it noticed that nobody reads any more.
    yield format === 'csv' ? kept.map((item) => csvLine(cells(item))).join('') : `${written === 0 || kept.length === 0 ? '' : ','}${kept.map((item) => JSON.stringify(item)).join(',')}`;
    written += kept.length;
    cursor = next;
    const more = next !== null || cut || kept.length < items.length;
    if (next === null || written >= cap) return yield ending(format, noun, written, more);
  }
}

function ending(format: ExportFormat, noun: string, written: number, more: boolean): string {
  if (format === 'json') return `],"count":${written},"complete":${!more}}\n`;
  return more ? csvLine([`Stopped after ${written} ${noun}: more match. Narrow the filter to export the rest.`]) : '';
}

/** A page by one more than is wanted, whose last id is the cursor of the next. */
export function pageOf<Item extends { id: string }>(found: Item[], limit: number): { items: Item[]; next: string | null } {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)!.id : null };
}

/** UTC, milliseconds since 1970 to ISO 8601. */
export function iso(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
