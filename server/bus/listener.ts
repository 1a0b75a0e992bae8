/**
 * Keeps one process listening, for as long as it lives. Promises: endless retries with a growing, spread pause; every time it becomes
 * active (after LISTEN, proven by a canary) its users are told to read everything again, since whatever was sent in between is lost;
 * a payload that makes no sense or a user that throws harms nobody; state() is the truth as of the last proof; nothing here throws
 * into the process. A crash leaves at most one backend, which ends with its socket.
 */
import type pg from 'pg';
import type { Logger } from '../log.js';
import { openSession, type ListenSession } from './listen-session.js';
import { decode, type Topic, type Topics } from './topics.js';

export interface ListenerOptions {
  /** connectionConfig(config.databaseDirectUrl, …): LISTEN needs a session of its own. */
  connection: pg.ClientConfig;
  /** Channel by topic; topics left out are not listened to (workers need no rows). */
  channels: Partial<Record<Topic, string>>;
  log: Logger;
  canaryIntervalMs?: number;
  limitMs?: number;
  firstPauseMs?: number;
  longestPauseMs?: number;
}

export interface ListenerState {
  up: boolean;
  /** When `up` last changed, on this process's monotonic clock (performance.now()). */
  since: number;
  /** The last proof, null before the first. */
  lastRoundTripMs: number | null;
  /** Times it became active after the first. */
  reconnects: number;
  malformed: number;
}

export interface Listener {
  start(): void;
  /** Call what is returned to stop. Subscribe before start() to miss nothing. */
  subscribe<T extends Topic>(topic: T, fn: (message: Topics[T]) => void): () => void;
  /** After each (re)connect, once LISTEN holds: read everything again. */
  onActive(fn: () => void): () => void;
  /** `up` has changed. */
  onChange(fn: (state: ListenerState) => void): () => void;
  state(): ListenerState;
  /** Ends the connection, also one that is just being made, and waits for its end. Idempotent. Never rejects. */
  close(): Promise<void>;
}

const REPORT_INTERVAL_MS = 60_000;

/** Connects only when start() is called. */
export function createListener(options: ListenerOptions): Listener {
  const { log, channels, firstPauseMs = 250, longestPauseMs = 5_000 } = options;
  const topicOf = new Map(Object.entries(channels).map(([topic, channel]) => [channel, topic as Topic]));
  const users = { kick: new Set<(message: never) => void>(), rows: new Set<(message: never) => void>() };
  const activeUsers = new Set<() => void>();
  const changeUsers = new Set<(state: ListenerState) => void>();
  const state: ListenerState = { up: false, since: performance.now(), lastRoundTripMs: null, reconnects: -1, malformed: 0 };
  let session: ListenSession | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let started = false;
  let closed = false;
  let lastReportAt = -Infinity;

  const current = (): ListenerState => ({ ...state, reconnects: Math.max(0, state.reconnects) });

  function tell<T>(fns: Iterable<(value: T) => void>, value: T): void {
    for (const fn of [...fns]) {
      try {
        fn(value);
      } catch (error) {
        log.error({ event: 'listener_user_failed', error }, 'A user of the listener threw; the others go on');
      }
    }
  }

  function setUp(up: boolean, first = () => {}): void {
    const changed = state.up !== up;
    if (changed) Object.assign(state, { up, since: performance.now() });
    first();
    if (changed) tell(changeUsers, current());
  }

  function open(): void {
    if (closed) return;
    const { connection, canaryIntervalMs = 3_000, limitMs = 5_000 } = options;
    try {
      session = openSession(
        { connection, channels: [...topicOf.keys()], canaryIntervalMs, limitMs },
        { active, lost, message, roundTrip: (ms) => void (state.lastRoundTripMs = ms) },
      );
    } catch (error) {
      lost(error as Error); // a configuration that pg refuses to take
    }
  }

  function active(roundTripMs: number): void {
    failures = 0;
    state.reconnects += 1;
    state.lastRoundTripMs = roundTripMs;
    log.info({ event: 'listener_up', roundTripMs, reconnects: state.reconnects }, 'Listening');
    // Whoever must read again knows it before anyone says that all is well.
    setUp(true, () => tell(activeUsers, undefined));
  }

  function lost(reason: Error): void {
    const wait = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random());
    if (failures === 0) log.warn({ event: 'listener_down', error: reason }, 'The listener lost its connection; polling carries on');
    else log.debug({ event: 'listener_retry', failures, error: reason }, 'The listener could not connect');
    failures += 1;
    setUp(false);
    if (!closed) retry = setTimeout(open, wait).unref();
  }

  function message(channel: string, payload: string | undefined): void {
    const topic = topicOf.get(channel);
    if (!topic) return;
    const decoded = decode(topic, payload);
    if (decoded) tell(users[topic] as Set<(value: unknown) => void>, decoded);
    else malformed(topic, payload);
  }

  function malformed(topic: Topic, payload: string | undefined): void {
    state.malformed += 1;
    if (performance.now() - lastReportAt < REPORT_INTERVAL_MS) return;
    lastReportAt = performance.now();
    log.warn({ event: 'malformed_hint', topic, payload: payload?.slice(0, 200), malformed: state.malformed }, 'A notification made no sense and was ignored');
  }

  function join<T>(set: Set<T>, fn: T): () => void {
    set.add(fn);
    return () => void set.delete(fn);
  }

  return {
    start() {
      if (!started) open();
      started = true;
    },
    subscribe: (topic, fn) => join(users[topic] as Set<typeof fn>, fn),
    onActive: (fn) => join(activeUsers, fn),
    onChange: (fn) => join(changeUsers, fn),
    state: current,
    async close() {
      closed = true;
      clearTimeout(retry);
      await session?.close();
      setUp(false);
    },
  };
}
