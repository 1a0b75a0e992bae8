/**
 * The live board of one web process: one listener, one set of reads, any number of browsers. Hints say what to read again, a poll behind
 * them finds what no hint spoke of, and every gap (listener or database back, database restarted) ends with complete snapshots for all.
 * The poll needs no cursor: it reads everything that is shown, so the order of commits cannot hide anything from it. Without streams
 * nothing is read. Nothing here throws into the process; a crash loses only what the next connection's snapshot brings back.
 */
import type { Listener } from '../bus/listener.js';
import type { RowsMessage } from '../bus/topics.js';
import type { Logger } from '../log.js';
import { feedStateOf, feedView, type FeedFacts, type FeedState, type FeedView } from './live-feed.js';
import { createReads } from './live-reads.js';
import { sse, type LiveStream } from './live-stream.js';
import { createLiveTable, type LiveTable } from './live-table.js';
import { createTopicBoard, type TopicBoard } from './live-topic-board.js';
import type { LiveTopic } from './live-topics.js';
import type { Views } from './live-views.js';
import type { Stamp } from './row-view.js';

export interface LiveHub {
  /** Feed, then a snapshot of each topic, then what changes. The stream is let go by what is returned (idempotent). */
  open(topics: readonly LiveTopic[], stream: LiveStream): () => void;
  /** The stream has dropped events: everything it shows, once more. */
  resnapshot(stream: LiveStream): void;
  feed(): FeedView;
  streams(): number;
  /** Reads and timers end; streams are the business of whoever opened them. */
  close(): void;
}

export interface LiveHubOptions {
  listener: Listener;
  views: Views;
  log: Logger;
  pollSeconds: number;
  feedIntervalMs?: number;
  readLimitMs?: number;
}

const FEED_INTERVAL_MS = 2_000;

export function createLiveHub(options: LiveHubOptions): LiveHub {
  const { listener, views, log, pollSeconds, feedIntervalMs = FEED_INTERVAL_MS } = options;
  const reads = createReads(log, options);
  const boards = new Map<string, TopicBoard>();
  const tables = new Map<string, LiveTable>();
  const streams = new Map<LiveStream, TopicBoard[]>();
  let epoch = 0;
  let gaps = 0;
  let readingSince = performance.now();
  let lastState: FeedState | undefined;
  let begun = performance.now();
  let pollTimer: NodeJS.Timeout | undefined;
  let feedTimer: NodeJS.Timeout | undefined;

  const facts = (): FeedFacts => ({ listener: listener.state(), reads: reads.state(), catchingUp: gaps > 0, now: performance.now(), readingSince });
  const feed = (): FeedView => feedView(facts(), begun, pollSeconds);
  const feedEvent = () => sse('feed', JSON.stringify(feed()));

  function tellFeed(): void {
    noteState();
    const event = feedEvent();
    for (const stream of streams.keys()) stream.deliver(event);
  }

  function noteState(): boolean {
    const state = feedStateOf(facts());
    if (state === lastState) return false;
    lastState = state;
    begun = performance.now();
    return true;
  }

  const tellFeedIfChanged = () => {
    if (streams.size > 0 && noteState()) tellFeed();
  };

  /** A new life of the database server: what was read before may be undone (asynchronous beats). */
  function onStamp(stamp: Stamp): void {
    const restarted = epoch !== 0 && stamp.epoch !== epoch;
    epoch = stamp.epoch;
    if (restarted) void closeGap();
    else tellFeedIfChanged();
  }

  /** Everything shown, as snapshots to everyone. */
  async function closeGap(): Promise<void> {
    gaps += 1;
    tellFeedIfChanged();
    await Promise.all([...[...boards.values()].map((board) => board.resnapshot()), ...rereadShown()]);
    gaps -= 1;
    tellFeedIfChanged();
  }

  const rereadShown = () => [...tables.values()].map((table) => table.rereadShown());

  function hear(message: RowsMessage): void {
    if (streams.size === 0) return;
    for (const board of boards.values()) if (concerns(board, message)) board.ask();
    if ('w' in message) for (const table of tables.values()) table.beaten(message.w);
    else if ('ids' in message) tables.get(message.t)?.changed(message.ids);
  }

  /** Whether a topic's complete view must be read again; rows of its own table are read one by one (live-table.ts). */
  function concerns(board: TopicBoard, message: RowsMessage): boolean {
    if (board.topic.kind === 'summary' || board.topic.kind === 'workers') return true;
    if ('w' in message) return board.showsBeside({ workerId: message.w });
    if ('ids' in message) return message.ids.some((id) => board.showsBeside({ id }));
    return board.topic.kind === 'row' || board.topic.queue.table === message.t;
  }

  async function poll(): Promise<void> {
    await Promise.all([...[...boards.values()].map((board) => board.reread()), ...rereadShown()]);
    tellFeedIfChanged();
    if (streams.size > 0) schedulePoll();
  }

  /** Spread, so that many web processes do not poll in step. */
  function schedulePoll(): void {
    clearTimeout(pollTimer);
    pollTimer = setTimeout(() => void poll(), pollSeconds * 1000 * (0.8 + 0.4 * Math.random())).unref();
  }

  function wake(): void {
    readingSince = performance.now();
    feedTimer = setInterval(tellFeed, feedIntervalMs).unref();
    schedulePoll();
  }

  function sleep(): void {
    clearTimeout(pollTimer);
    clearInterval(feedTimer);
  }

  function boardOf(topic: LiveTopic): TopicBoard {
    const known = boards.get(topic.key);
    if (known) return known;
    const board = createTopicBoard(topic, views, reads, onStamp);
    boards.set(topic.key, board);
    if ('queue' in topic) {
      const table = tables.get(topic.queue.table) ?? createLiveTable(topic.queue, views, reads, onStamp);
      tables.set(topic.queue.table, table);
      table.boards.add(board);
    }
    return board;
  }

  function leave(stream: LiveStream, board: TopicBoard): void {
    board.remove(stream);
    if (board.streams() > 0) return;
    board.stop();
    boards.delete(board.topic.key);
    for (const [name, table] of tables) {
      if (!table.boards.delete(board) || table.boards.size > 0) continue;
      table.stop();
      tables.delete(name);
    }
  }

  async function join(stream: LiveStream, mine: TopicBoard[]): Promise<void> {
    const first = streams.size === 1;
    if (first) gaps += 1;
    stream.deliver(feedEvent());
    await Promise.all(mine.map((board) => board.add(stream)));
    if (first) gaps -= 1;
    tellFeedIfChanged();
  }

  const stopHearing = [listener.subscribe('rows', hear), listener.onActive(() => void closeGap()), listener.onChange(tellFeedIfChanged)];

  return {
    open(topics, stream) {
      const mine = topics.map(boardOf);
      streams.set(stream, mine);
      if (streams.size === 1) wake();
      void join(stream, mine);
      return () => {
        if (!streams.delete(stream)) return;
        for (const board of mine) leave(stream, board);
        if (streams.size === 0) sleep();
      };
    },
    resnapshot(stream) {
      for (const board of streams.get(stream) ?? []) void board.resnapshot([stream]);
      void Promise.all(rereadShown());
    },
    feed,
    streams: () => streams.size,
    close() {
      for (const stop of stopHearing) stop();
      sleep();
      for (const stoppable of [...boards.values(), ...tables.values()]) stoppable.stop();
    },
  };
}
