/**
 * The changed rows of one table: collected from hints, read again by primary key once for all streams, at most ten times a second with
 * the first at once. Each sender of hints already gathers for as long (row-hints.ts): what one sends is read as it comes, and only what
 * several send waits a second time. Ids that no topic cares about are not read. When too many changed at once, the pages are read again instead.
 */
import type { QueueDefinition } from '../lease/queues.js';
import { createPace } from './live-pace.js';
import type { Reads } from './live-reads.js';
import type { TopicBoard } from './live-topic-board.js';
import type { Views } from './live-views.js';
import type { Stamp } from './row-view.js';

const ROWS_INTERVAL_MS = 100;
/** As many hints may come early, since others came late. */
const ROWS_SPARE = 2;
/** More rows than this in one go are dearer to read one by one than the pages that show them. */
const MAX_ROWS = 250;
/** After a failed read. */
const RETRY_MS = 1_000;

export interface LiveTable {
  boards: Set<TopicBoard>;
  changed(ids: Iterable<string>): void;
  /** This worker has beaten: only its rows that are shown somewhere are read. */
  beaten(workerId: string): void;
  /** Everything that is shown, now. */
  rereadShown(): Promise<void>;
  stop(): void;
}

export function createLiveTable(queue: QueueDefinition, views: Views, reads: Reads, onStamp: (stamp: Stamp) => void): LiveTable {
  const boards = new Set<TopicBoard>();
  const pending = new Set<string>();
  const pace = createPace(readPending, ROWS_INTERVAL_MS, ROWS_SPARE);
  let retry: NodeJS.Timeout | undefined;

  async function readPending(): Promise<void> {
    const ids = [...pending].slice(0, MAX_ROWS);
    for (const id of ids) pending.delete(id);
    if (ids.length === 0) return;
    const read = await reads.run(() => views.rows(queue, ids), (answer) => answer);
    if (!read) return retryLater(ids);
    onStamp(read);
    const found = new Set(read.rows.map((row) => row.id));
    const gone = ids.filter((id) => !found.has(id));
    for (const board of boards) if (board.changed(read, gone)) board.ask();
    if (pending.size > 0) pace.ask();
  }

  function retryLater(ids: string[]): void {
    take(ids);
    retry ??= setTimeout(() => {
      retry = undefined;
      pace.ask();
    }, RETRY_MS).unref();
  }

  function take(ids: Iterable<string>): void {
    const asked = [...boards];
    for (const id of ids) if (asked.some((board) => board.wants(id))) pending.add(id);
  }

  return {
    boards,
    changed(ids) {
      take(ids);
      if (pending.size > MAX_ROWS) {
        const shown = new Set([...boards].flatMap((board) => board.shownIds()));
        for (const id of pending) if (!shown.has(id)) pending.delete(id);
        for (const board of boards) board.ask();
      }
      if (pending.size > 0) pace.ask();
    },
    beaten(workerId) {
      for (const board of boards) for (const id of board.heldBy(workerId)) pending.add(id);
      if (pending.size > 0) pace.ask();
    },
    async rereadShown() {
      for (const board of boards) for (const id of board.shownIds()) pending.add(id);
      while (pending.size > 0) {
        const before = pending.size;
        await pace.now();
        if (pending.size >= before) return; // the read failed: it is tried again later
      }
    },
    stop() {
      clearTimeout(retry);
      pace.stop();
    },
  };
}
