/** The browser's end of a bulk action: reads the rows, sends them page by page, adds up the answers. Kept apart from its card, which may be put aside. */
import { useRevalidator } from '@remix-run/react';
import { useEffect, useRef, useState } from 'react';
import { v4 as uuidv4 } from 'uuid';
import type { BulkRows } from '../server/console/bulk-rows.js';
import type { QueueFilters } from '../server/console/queue-filters.js';
import type { RowView } from '../server/console/row-view.js';
import type { BulkAnswer, BulkResult } from '../server/operations/bulk.js';
import { filterQuery } from '~/format/filters';
import type { RowAction } from '~/format/possible';
import { orderOf } from '~/format/row-order';

export interface BulkOrder {
  action: RowAction;
  queue: { slug: string; noun: string };
  /** The selected rows; null for all that match. */
  ids: readonly string[] | null;
  filters: QueueFilters;
}

/** Rows in one request (app/routes/operations.bulk.ts takes no more). */
const PAGE_ROWS = 10;
/** A page of rows that each wait for a lock (ms). */
const PAGE_MS = 60_000;
const READ_MS = 10_000;

/** @throws an Error whose message says what to do. */
export async function readBulk({ queue, ids, filters }: BulkOrder, signal: AbortSignal): Promise<BulkRows> {
  const query = ids ? `?ids=${ids.join(',')}` : filterQuery({ ...filters, before: null, after: null });
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), READ_MS);
  const abort = () => timeout.abort();
  signal.addEventListener('abort', abort);
  try {
    const response = await fetch(`/operations/bulk${query === '' ? '?' : `${query}&`}queue=${queue.slug}`, { signal: timeout.signal });
    if (response.ok) return (await response.json()) as BulkRows;
  } catch {
    // said below
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
  throw new Error('The rows could not be read. It is tried again by itself.');
}

export type BulkState = 'ready' | 'running' | 'stopped' | 'ended';

export interface BulkRun {
  state: BulkState;
  rows: RowView[];
  answers: BulkAnswer[];
  /** Why it stopped, if it was not asked to. */
  fault: string | null;
  start: (rows: RowView[], reason: string) => void;
  /** After the page that is under way. */
  stop: () => void;
  /** What was not tried yet, under the same id: what was done is not done twice. */
  resume: () => void;
}

export function useBulkRun({ action, queue }: BulkOrder): BulkRun {
  const [state, setState] = useState<BulkState>('ready');
  const [answers, setAnswers] = useState<BulkAnswer[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const { revalidate } = useRevalidator();
  const task = useRef({ id: uuidv4(), rows: [] as RowView[], reason: '', done: [] as BulkAnswer[], stop: false });
  useWarning(state === 'running');

  async function run(): Promise<void> {
    const mine = task.current;
    mine.stop = false;
    setFault(null);
    setState('running');
    while (mine.done.length < mine.rows.length && !mine.stop) {
      const page = mine.rows.slice(mine.done.length, mine.done.length + PAGE_ROWS);
      const result = await sendPage(page, mine.done.length);
      if (typeof result === 'string') {
        setFault(result);
        mine.stop = true;
      } else setAnswers((mine.done = [...mine.done, ...result.answers]));
    }
    setState(mine.done.length < mine.rows.length ? 'stopped' : 'ended');
    revalidate();
  }

  async function sendPage(page: RowView[], offset: number): Promise<BulkResult | string> {
    const body = new URLSearchParams({ action, bulk: task.current.id, offset: String(offset), reason: task.current.reason });
    for (const row of page) body.append('target', JSON.stringify(orderOf(action, row, queue.slug, queue.noun).fields));
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), PAGE_MS);
    try {
      const response = await fetch('/operations/bulk', { method: 'POST', body, signal: controller.signal });
      if (response.status === 401) return 'Your session has ended. Sign in again in another tab, then go on.';
      const result = response.ok || response.status === 403 ? ((await response.json()) as Partial<BulkResult>) : {};
      return result.answers ? (result as BulkResult) : 'The console did not answer as it should. Go on: what was done is not done twice.';
    } catch {
      return 'No answer came, so it is not known what became of the last few. Go on: what was done is not done twice.';
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    state, answers, fault, rows: task.current.rows,
    start(rows, reason) {
      task.current = { ...task.current, rows, reason };
      void run();
    },
    stop: () => void (task.current.stop = true),
    resume: () => void run(),
  };
}

/** Closing the tab would leave the rest undone: the browser asks first. */
function useWarning(running: boolean): void {
  useEffect(() => {
    if (!running) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [running]);
}
