/**
 * One EventSource a tab at most, for the union of what is mounted; closed while the tab is hidden, opened anew (with fresh snapshots) when
 * it is seen again, when the topics change, and when it has gone silent without ending. The browser itself comes back after a broken
 * connection; after a refusal, which it takes as final, we do.
 */
import { EVENT_NAMES, type LiveEvent } from './events';

export interface ConnectionUser {
  event(event: LiveEvent): void;
  /** A new stream is being opened for these topics: snapshots of all of them will come. */
  opening(topics: ReadonlySet<string>): void;
  /** Whether the stream is open has changed. */
  changed(): void;
  signedOut(): void;
}

export interface Connection {
  setTopics(topics: ReadonlySet<string>): void;
  open(): boolean;
  /** How long nothing has come (ms) while it was wanted. */
  silentMs(): number;
  close(): void;
}

/** Components of one page mount one after the other: their topics travel together (ms). */
const GATHER_MS = 30;
/** The feed speaks every two seconds; a stream that is silent for so long is dead, though nobody said so (ms). */
const SILENT_MS = 12_000;
/** After a refusal (ms), growing with each, spread. */
const FIRST_PAUSE_MS = 1_500;
const LONGEST_PAUSE_MS = 20_000;

export function createConnection(user: ConnectionUser): Connection {
  let topics: ReadonlySet<string> = new Set();
  let source: EventSource | undefined;
  let opened = '';
  let timer: number | undefined;
  let failures = 0;
  let heardAt = performance.now();
  let triedAt = heardAt;
  const watchdog = window.setInterval(watch, 1_000);
  document.addEventListener('visibilitychange', onVisibility);
  window.addEventListener('online', reopen);

  const address = () => `/live?topics=${[...topics].map(encodeURIComponent).join(',')}`;
  const isOpen = () => source?.readyState === EventSource.OPEN;

  function schedule(ms: number): void {
    window.clearTimeout(timer);
    timer = window.setTimeout(connect, ms);
  }

  function connect(): void {
    drop();
    triedAt = performance.now();
    if (topics.size === 0 || document.hidden) return user.changed();
    opened = address();
    const mine = new EventSource(opened);
    source = mine;
    user.opening(topics);
    mine.onopen = () => {
      failures = 0;
      user.changed();
    };
    mine.onerror = () => {
      if (source !== mine) return;
      user.opening(topics); // whatever comes next begins with snapshots
      user.changed();
      if (mine.readyState === EventSource.CLOSED) void refused(mine);
    };
    for (const name of EVENT_NAMES) mine.addEventListener(name, (message) => source === mine && hear(name, message));
  }

  function hear(name: LiveEvent['event'], message: MessageEvent<string>): void {
    heardAt = performance.now();
    const event = { event: name, data: JSON.parse(message.data) } as LiveEvent;
    if (event.event === 'bye' && event.data.reason === 'signed_out') {
      drop();
      user.signedOut();
    } else user.event(event);
  }

  /** EventSource does not say why; ask once more in a way that does. */
  async function refused(mine: EventSource): Promise<void> {
    failures += 1;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
    const asked = fetch(address(), { method: 'HEAD', cache: 'no-store', redirect: 'manual', signal: AbortSignal.timeout(5_000) });
    const status = await asked.then((answer) => answer.status, () => 0);
    if (status === 401) user.signedOut();
    else if (source === mine) schedule(pause);
  }

  function drop(): void {
    window.clearTimeout(timer);
    source?.close();
    source = undefined;
    opened = '';
  }

  function reopen(): void {
    failures = 0;
    schedule(0);
  }

  function onVisibility(): void {
    heardAt = performance.now();
    if (document.hidden) {
      drop();
      user.changed();
    } else reopen();
  }

  /** Also for a connection that neither opens nor fails. */
  function watch(): void {
    if (source && performance.now() - Math.max(heardAt, triedAt) > SILENT_MS) schedule(0);
  }

  return {
    setTopics(next) {
      topics = next;
      if (address() !== opened || !source) schedule(GATHER_MS);
    },
    open: isOpen,
    silentMs: () => performance.now() - heardAt,
    close() {
      drop();
      window.clearInterval(watchdog);
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('online', reopen);
    },
  };
}
