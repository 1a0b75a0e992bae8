/**
 * One open event stream over one response. Memory is bounded: a browser that reads too slowly loses events instead of queueing them,
 * and is owed everything anew once it has caught up; one that reads nothing for a minute is cut off. Ends exactly once, and by `close`
 * of the response whatever the reason; a signal on the request would not fire.
 */
import type { Response } from 'express';
import { sse, wire, type LiveStream, type SentEvent } from '../console/live-stream.js';

/** Bytes waiting in this process for one browser; beyond it events are dropped. */
const MAX_WAITING_BYTES = 512 * 1024;
/** A browser that takes nothing for so long is gone, or as good as (ms). */
const STALLED_MS = 60_000;
/** What has been written may still reach the browser; then the connection is cut (ms). */
const FAREWELL_MS = 2_000;
const PING = wire(': ping\n\n');

export type Farewell = 'signed_out' | 'max_age' | 'shutdown';

export interface LiveResponse extends LiveStream {
  ping(): void;
  /** Says why, and ends. */
  bye(reason: Farewell): void;
}

/** Writes the headers. `onDrained`: events were dropped, and the browser reads again. `onClose`: once, at the very end. */
export function openLiveResponse(res: Response, on: { drained: () => void; close: () => void }): LiveResponse {
  let congested = false;
  let dropped = false;
  let ending = false;
  let stalled: NodeJS.Timeout | undefined;

  res.status(200).set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  res.flushHeaders();
  // Framed once for all streams and handed to the connection itself, an event costs a third less than framed anew by each answer. Without
  // a connection of its own yet (pipelined) or without chunks (HTTP/1.0), the answer does it.
  const socket = res.chunkedEncoding ? res.socket : null;
  const out = socket ?? res;
  write(wire(`retry: ${1_000 + Math.floor(Math.random() * 3_000)}\n\n`)); // spread: a restart must not meet every browser at once

  res.on('error', () => {}); // a connection that broke; `close` follows
  out.on('drain', drained);
  res.once('close', () => {
    ending = true;
    clearTimeout(stalled);
    out.off('drain', drained);
    on.close();
  });

  function drained(): void {
    congested = false;
    clearTimeout(stalled);
    stalled = undefined;
    if (!dropped || ending) return;
    dropped = false;
    on.drained();
  }

  function write({ text, chunk }: SentEvent): void {
    if (ending || !out.writable) return;
    if (socket) socket.write(chunk);
    else res.write(text);
    if (out.writableLength <= MAX_WAITING_BYTES) return;
    congested = true;
    stalled ??= setTimeout(() => res.destroy(), STALLED_MS).unref();
  }

  return {
    deliver(event) {
      if (congested) dropped = true;
      else write(event);
    },
    ping() {
      if (!congested) write(PING);
    },
    bye(reason) {
      if (ending) return;
      write(sse('bye', JSON.stringify({ reason })));
      ending = true;
      res.end();
      setTimeout(() => res.destroy(), FAREWELL_MS).unref();
    },
  };
}
