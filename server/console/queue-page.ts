import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { DB } from '../db/generated.js';
import type { LeasedState, QueueDefinition } from '../lease/queues.js';
import { isHeld, isWaiting } from '../lease/words.js';
import type { QueueFilters } from './queue-filters.js';
import { matchingCount, matchingIds } from './queue-query.js';
import type { Reader } from './read.js';
import { readOnly, readStamp } from './read.js';
import { selectRows, tableOf } from './row-select.js';
import type { RowView, Stamp } from './row-view.js';

export const PAGE_ROWS = 50;

/** Counting stops here: "10,000+" is as good an answer, at a five-hundredth of the price. */
export const COUNT_CAP = 10_001;

/** The words of a queue that pages need. */
export interface QueueWords {
  slug: string;
  table: string;
  title: string;
  noun: string;
  purpose: string;
  states: readonly LeasedState[];
  listColumns: readonly string[];
}

export interface QueuePage extends Stamp {
  queue: QueueWords;
  rows: RowView[];
  /** Cursors for the URL; null where there is nothing more. */
  next: string | null;
  previous: string | null;
  /** Rows that match, capped at COUNT_CAP. */
  matching: number;
  /** Whether the queue has any row at all: tells "nothing yet" from "nothing matches". */
  empty: boolean;
  /** Counts of the open states (capped), for the filter chips. */
  open: { awaiting: number; queued: number; running: number; stale: number };
  /** Versions and workers that hold a lease now, for the filter menus. */
  holders: { label: string; version: string }[];
}

export function wordsOf(queue: QueueDefinition): QueueWords {
  const { slug, table, title, noun, purpose, states, listColumns } = queue;
  return { slug, table, title, noun, purpose, states, listColumns };
}

/** One page of a queue, newest first. Own read-only transaction. @throws ReadTimeoutError */
export function readQueuePage(kysely: Kysely<DB>, queue: QueueDefinition, filters: QueueFilters): Promise<QueuePage> {
  return readOnly(kysely, async (reader) => {
    const stamp = await readStamp(reader);
    const page = await readIds(reader, queue, filters, stamp.asOf);
    const rows = await selectRows(reader, queue, page.ids);
    const matching = await matchingCount(queue, filters, stamp.asOf, COUNT_CAP).execute(reader);
    const open = await readOpenCounts(reader, queue);
    return {
      ...stamp, queue: wordsOf(queue), rows, next: page.next, previous: page.previous,
      matching: matching.rows[0]!.n, empty: rows.length === 0 && (await isEmpty(reader, queue)),
      open, holders: await readHolders(reader, queue),
    };
  });
}

/** Walks one row further than a page: the extra row says whether there is a next one. */
async function readIds(reader: Reader, queue: QueueDefinition, filters: QueueFilters, asOf: number) {
  const backwards = filters.after !== null;
  const found = await matchingIds(queue, filters, asOf, PAGE_ROWS + 1, backwards ? 'newer' : 'older').execute(reader);
  const more = found.rows.length > PAGE_ROWS;
  const ids = found.rows.slice(0, PAGE_ROWS).map((row) => row.id);
  if (backwards) ids.reverse();
  const first = ids[0] ?? null;
  const last = ids.at(-1) ?? null;
  return { ids, next: backwards || more ? last : null, previous: backwards ? (more ? first : null) : filters.before && first };
}

async function isEmpty(reader: Reader, queue: QueueDefinition): Promise<boolean> {
  const { rows } = await sql`select 1 from ${tableOf(queue)} limit 1`.execute(reader);
  return rows.length === 0;
}

/** Each count walks one partial index of open rows and stops at the cap. */
export async function readOpenCounts(reader: Reader, queue: QueueDefinition): Promise<QueuePage['open']> {
  const awaiting = queue.states.includes('awaiting') ? countOf(queue, sql`state = 'awaiting'`) : sql`0`;
  const held = sql.raw<unknown>(isHeld(queue));
  const { rows } = await sql<QueuePage['open']>`select ${awaiting} as awaiting,
    ${countOf(queue, sql.raw(isWaiting(queue)))} as queued, ${countOf(queue, held)} as running,
    ${countOf(queue, sql`${held} and lease_expires_at < now()`)} as stale`.execute(reader);
  return rows[0]!;
}

function countOf(queue: QueueDefinition, condition: ReturnType<typeof sql>) {
  return sql`(select count(*)::int from (select 1 from ${tableOf(queue)} where ${condition} limit ${sql.lit(COUNT_CAP)}) c)`;
}

async function readHolders(reader: Reader, queue: QueueDefinition): Promise<QueuePage['holders']> {
  const { rows } = await sql<{ label: string; version: string }>`
    select distinct w.label, w.version from workers w
    where w.id in (select worker_id from ${tableOf(queue)} where ${sql.raw(isHeld(queue))})
    order by w.version desc, w.label limit 50`.execute(reader);
  return rows;
}
