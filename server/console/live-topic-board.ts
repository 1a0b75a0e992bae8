/**
 * One topic, shared by every stream that shows it: read once for all of them, at most once a second or two (a new stream does not wait
 * for the pace). Remembers which rows its streams may be showing, so that only changes to those travel, and the ids of rows that now belong on
 * the page. Memory is bounded: the longest unseen rows are forgotten; the next complete view brings them back.
 */
import { matches } from './live-match.js';
import { createPace } from './live-pace.js';
import type { Reads } from './live-reads.js';
import type { QueueFilters } from './queue-filters.js';
import { sse, type LiveStream } from './live-stream.js';
import type { LiveTopic } from './live-topics.js';
import type { TopicView, Views } from './live-views.js';
import type { RowView, Stamp } from './row-view.js';

/** A queue's page is long, and its rows travel by themselves meanwhile: only its counts wait for the next view. */
const VIEW_INTERVAL_MS = { summary: 1_000, workers: 1_000, row: 1_000, queue: 2_000, rows: 2_000 } as const;
/** What a view is called that is not a stream's first ("rows" are changes). */
const EVENTS = { summary: 'summary', workers: 'workers', row: 'row', queue: 'queue', rows: 'list' } as const;
const MAX_SHOWN = 1_000;
/** In place of a version: whatever is read next goes out. */
const UNSENT = -1;

export interface TopicBoard {
  topic: LiveTopic;
  add(stream: LiveStream): Promise<void>;
  remove(stream: LiveStream): void;
  streams(): number;
  /** Something it shows may have changed. */
  ask(): void;
  /** Reads now; streams hear of it if it differs. */
  reread(): Promise<void>;
  /** A complete view for these streams (all of them), marked as a snapshot. */
  resnapshot(streams?: Iterable<LiveStream>): Promise<void>;
  /** Whether a change to this row may concern its streams. */
  wants(id: string): boolean;
  /** Whether it shows this row of another table, or one that this worker holds. */
  showsBeside(change: { id: string } | { workerId: string }): boolean;
  shownIds(): string[];
  heldBy(workerId: string): string[];
  /** Rows of its table were read again; `gone` are those that were not found. Answers whether its view is to be read again: it holds more than rows. */
  changed(read: Stamp & { rows: RowView[] }, gone: readonly string[]): boolean;
  stop(): void;
}

export function createTopicBoard(topic: LiveTopic, views: Views, reads: Reads, onStamp: (stamp: Stamp) => void): TopicBoard {
  const streams = new Set<LiveStream>();
  /** Streams that are owed a snapshot rather than an update. */
  const owed = new Set<LiveStream>();
  /** What its streams know of each row they may show, least recently seen first. */
  const shown = new Map<string, { worker: string | null; version: number }>();
  /** The same for rows of other tables, as of the last view. */
  let beside = new Map<string, string | null>();
  /** On a full first page only newer rows can come in; null: any. */
  let floor: string | null = null;
  let lastContent = '';
  const pace = createPace(readView, VIEW_INTERVAL_MS[topic.kind]);
  const firstPage = topic.kind === 'queue' && !topic.filters.before && !topic.filters.after;

  async function readView(): Promise<void> {
    const mine = [...owed];
    const view = await reads.run(() => views.topic(topic), ({ stamp }) => stamp);
    if (!view) return pace.ask();
    onStamp(view.stamp);
    remember(view);
    deliverView(view, mine);
  }

  function deliverView({ stamp, data }: TopicView, snapshotFor: LiveStream[]): void {
    const content = JSON.stringify({ ...(data as object | null), asOf: 0 });
    const same = content === lastContent;
    lastContent = content;
    const json = JSON.stringify({ topic: topic.key, ...stamp, data });
    const [snapshot, update] = [sse('snapshot', json), sse(EVENTS[topic.kind], json)];
    for (const stream of snapshotFor) {
      if (owed.delete(stream) && streams.has(stream)) stream.deliver(snapshot);
    }
    if (same) return; // the feed says how fresh it is
    for (const stream of streams) if (!snapshotFor.includes(stream)) stream.deliver(update);
  }

  function remember(view: TopicView): void {
    const own = topic.kind === 'row' ? [topic.id] : topic.kind === 'rows' ? topic.ids : [];
    for (const id of own) if (!shown.has(id)) shown.set(id, { worker: null, version: UNSENT }); // not there (yet)
    for (const row of view.rows) see(row);
    beside = new Map(view.linked.map((row) => [row.id, row.worker?.id ?? null]));
    if (firstPage) floor = view.full ? (view.rows.at(-1)?.id ?? null) : null;
  }

  function see(row: RowView): void {
    shown.delete(row.id);
    shown.set(row.id, { worker: row.worker?.id ?? null, version: row.version });
    if (shown.size > MAX_SHOWN) shown.delete(shown.keys().next().value!);
  }

  const inRange = (id: string) => firstPage && (floor === null || id > floor);
  const wants = (id: string) => shown.has(id) || inRange(id);

  function changed(read: Stamp & { rows: RowView[] }, gone: readonly string[]): boolean {
    const news = read.rows.filter((row) => wants(row.id) && shown.get(row.id)?.version !== row.version);
    const removed = gone.filter(wants);
    if (news.length + removed.length === 0) return false;
    const rows = news.filter((row) => shown.has(row.id));
    const [entered, left] = topic.kind === 'queue' ? membership(topic.filters, news, read.asOf) : [[], []];
    // A browser may show at any time what has entered: from now on its changes travel too.
    for (const row of news) if (shown.has(row.id) || entered.includes(row.id)) see(row);
    for (const id of removed) if (topic.kind === 'queue') shown.delete(id);
    if (rows.length + removed.length + entered.length === 0) return true; // its counts
    const { asOf, epoch } = read;
    const event = sse('rows', JSON.stringify({ topic: topic.key, table: tableOf(topic), epoch, asOf, rows, removed, entered, left }));
    for (const stream of streams) stream.deliver(event);
    return topic.kind !== 'rows';
  }

  function membership(filters: QueueFilters, news: readonly RowView[], asOf: number): [entered: string[], left: string[]] {
    const inside = new Set(news.filter((row) => matches(filters, row, asOf)).map((row) => row.id));
    const ids = news.map((row) => row.id);
    return [ids.filter((id) => inside.has(id) && inRange(id)), ids.filter((id) => !inside.has(id) && shown.has(id))];
  }

  return {
    topic,
    async add(stream) {
      streams.add(stream);
      owed.add(stream);
      await pace.now();
    },
    remove(stream) {
      streams.delete(stream);
      owed.delete(stream);
    },
    streams: () => streams.size,
    ask: pace.ask,
    reread: pace.now,
    async resnapshot(some = streams) {
      for (const known of shown.values()) known.version = UNSENT; // someone has missed changes
      for (const stream of some) if (streams.has(stream)) owed.add(stream);
      await pace.now();
    },
    wants,
    showsBeside: (change) => ('id' in change ? beside.has(change.id) : [...beside.values()].includes(change.workerId)),
    shownIds: () => [...shown.keys()],
    heldBy: (workerId) => [...shown].filter(([, { worker }]) => worker === workerId).map(([id]) => id),
    changed,
    stop: pace.stop,
  };
}

export function tableOf(topic: LiveTopic): string | null {
  return 'queue' in topic ? topic.queue.table : null;
}
