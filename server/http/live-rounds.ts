/**
 * Goes round the open streams: each is pinged once a round, and its session read again. The streams are spread over the turns of a round; one
 * statement reads the sessions of a whole turn, whoever and however many they are.
 */
import type { Logger } from '../log.js';
import type { Role } from './load-context.js';

/** The roles behind these sessions as they are now; those that have ended are left out. May reject: unknown is not signed out. */
export type Recheck = (sessionIds: readonly string[]) => Promise<ReadonlyMap<string, Role>>;

export interface Visited {
  sessionId: string;
  ping(): void;
  /** Null: the session has ended. */
  found(role: Role | null): void;
}

const TURNS = 15;

/** @returns what takes a stream in, at a turn of its own, and returns what lets it go again. */
export function createRounds(recheck: Recheck, log: Logger, roundMs: number): (stream: Visited) => () => void {
  const turns = Array.from({ length: TURNS }, () => ({ streams: new Set<Visited>(), reading: false }));
  let size = 0;
  let turn = 0;
  let timer: NodeJS.Timeout | undefined;

  async function visitNext(): Promise<void> {
    turn = (turn + 1) % TURNS;
    const now = turns[turn]!;
    const streams = [...now.streams];
    for (const stream of streams) stream.ping();
    if (now.reading || streams.length === 0) return;
    now.reading = true;
    try {
      const roles = await recheck([...new Set(streams.map((stream) => stream.sessionId))]);
      for (const stream of streams) stream.found(roles.get(stream.sessionId) ?? null);
    } catch (error) {
      log.debug({ event: 'live_recheck_failed', error }, 'The sessions behind some streams could not be read; it is tried again');
    } finally {
      now.reading = false;
    }
  }

  return (stream) => {
    const { streams } = turns[Math.floor(Math.random() * TURNS)]!;
    streams.add(stream);
    size += 1;
    timer ??= setInterval(() => void visitNext(), roundMs / TURNS).unref();
    return () => {
      if (!streams.delete(stream)) return;
      size -= 1;
      if (size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
}
