/**
 * One connection that listens, from its first byte to its end; it never reconnects (listener.ts opens the next one). It counts as
 * active only when a canary has come back through a channel of its own: LISTEN alone proves nothing behind a pooler or a dead link.
 * It ends exactly once: by close(), or with a call of `lost`. Either way its socket is destroyed, so that no backend outlives it.
 */
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import createSubscriber from 'pg-listen';

export interface SessionOptions {
  /** Must point at Postgres itself, not at a transaction pooler. */
  connection: pg.ClientConfig;
  channels: readonly string[];
  /** Between the return of one canary and the sending of the next. */
  canaryIntervalMs: number;
  /** From opening to the first canary, and from each canary to its return; beyond it the link counts as dead. */
  limitMs: number;
}

export interface SessionEvents {
  /** LISTEN holds on every channel and is proven. Once. */
  active(roundTripMs: number): void;
  roundTrip(ms: number): void;
  message(channel: string, payload: string | undefined): void;
  lost(reason: Error): void;
}

export interface ListenSession {
  /** Ends the connection and waits until it has ended. Never rejects; `lost` is not called. */
  close(): Promise<void>;
}

/** A polite goodbye may take this long before the socket is destroyed. */
const GOODBYE_MS = 1_000;

/** Starts connecting at once. @throws only when pg refuses the configuration itself. */
export function openSession(options: SessionOptions, on: SessionEvents): ListenSession {
  const socket = new Socket();
  const canary = `leaseboard_canary_${randomUUID()}`; // 54 bytes; Postgres allows 63
  // pg-listen would retry inside, where an ended reconnect leaks its backend: a limit of 1 makes it report the loss at once instead.
  const subscriber = createSubscriber(
    { ...options.connection, stream: () => socket } as pg.ClientConfig,
    { paranoidChecking: false, retryLimit: 1, parse: (payload) => payload },
  );
  let ended = false;
  let connected = false;
  let active = false;
  let timer: NodeJS.Timeout | undefined;
  let sentAt = 0;

  const after = (ms: number, fn: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(fn, ms).unref();
  };

  function lose(reason: unknown): void {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    if (connected) void subscriber.close().catch(() => {});
    socket.destroy();
    on.lost(reason instanceof Error ? reason : new Error(String(reason)));
  }

  function sendCanary(): void {
    sentAt = performance.now();
    after(options.limitMs, () => lose(new Error(`The canary did not return within ${options.limitMs} ms.`)));
    subscriber.notify(canary, '').catch(lose);
  }

  function canaryReturned(): void {
    const ms = performance.now() - sentAt;
    if (!active) on.active(ms);
    active = true;
    on.roundTrip(ms);
    if (!ended) after(options.canaryIntervalMs, sendCanary);
  }

  async function start(): Promise<void> {
    after(options.limitMs, () => lose(new Error(`No connection within ${options.limitMs} ms.`)));
    await subscriber.connect();
    connected = true;
    for (const channel of [...options.channels, canary]) await subscriber.listenTo(channel);
    if (!ended) sendCanary();
  }

  // While connecting, connect() rejects with the cause; pg-listen's own error only says that there was one.
  subscriber.events.on('error', () => connected && lose(new Error('The connection was lost.')));
  subscriber.events.on('notification', ({ channel, payload }) => {
    if (ended) return;
    if (channel === canary) canaryReturned();
    else on.message(channel, payload as string | undefined);
  });
  const starting = start().catch(lose);

  return {
    async close() {
      if (ended) return starting;
      ended = true;
      clearTimeout(timer);
      // pg never settles a connect() that was ended meanwhile: cut the socket instead, and it rejects.
      if (connected) await Promise.race([subscriber.close().catch(() => {}), pause(GOODBYE_MS, undefined, { ref: false })]);
      socket.destroy();
      await starting;
    },
  };
}
