import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Express } from 'express';

/** A whole request must arrive within this (ms): 120 MB at about 2 Mbit/s. Its headers within HEADERS_MS. */
const REQUEST_MS = 10 * 60_000;
const HEADERS_MS = 20_000;
/** Longer than a load balancer keeps an idle connection (60 s), so that it is never we who close one it is about to use (ms). */
const KEEP_ALIVE_MS = 65_000;
/** Between two looks at whether the requests in flight have ended (ms). */
const LOOK_MS = 20;

export interface HttpServer {
  port: number;
  /** Stops accepting, lets requests in flight finish for `budgetMs`, then closes what is left. Idempotent. */
  close(budgetMs: number): Promise<void>;
}

/** Listens; rejects with what to do when it cannot. Port 0 picks a free one. */
export async function listen(app: Express, where: { host: string; port: number }): Promise<HttpServer> {
  const server = http.createServer({ requestTimeout: REQUEST_MS, headersTimeout: HEADERS_MS, keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: 16 * 1024 });
  const inFlight = watchResponses(server);
  server.on('request', app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, where)));
    server.listen(where.port, where.host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: (budgetMs) => closeServer(server, inFlight, budgetMs) };
}

/** Answers that are not complete yet; from a close on each says that it is its connection's last. */
function watchResponses(server: http.Server): Set<http.ServerResponse> {
  const inFlight = new Set<http.ServerResponse>();
  const behindAnother = closeBehindAnother(server);
  server.on('request', (_req, res) => {
    if (!server.listening) lastOfItsConnection(res);
    inFlight.add(res);
    behindAnother(res);
    res.once('close', () => inFlight.delete(res));
  });
  return inFlight;
}

/**
 * Of the answers of one connection (pipelined requests) only the first knows its socket, and Node tells only that one that the connection has
 * ended. The others are told here, so that whatever waits for the `close` of an answer lets go of each.
 */
function closeBehindAnother(server: http.Server): (res: http.ServerResponse) => void {
  const waiting = new Set<http.ServerResponse>();
  server.on('connection', (socket) => socket.once('close', () => {
    for (const res of waiting) {
      if (res.req.socket !== socket || res.socket !== null) continue;
      res.destroy();
      res.emit('close');
    }
  }));
  return (res) => {
    if (res.socket !== null) return;
    waiting.add(res);
    res.once('close', () => waiting.delete(res));
  };
}

async function closeServer(server: http.Server, inFlight: Set<http.ServerResponse>, budgetMs: number): Promise<void> {
  if (!server.listening) return;
  const deadline = performance.now() + budgetMs;
  let ended = false;
  server.close(() => { ended = true; });
  inFlight.forEach(lastOfItsConnection);
  while (!ended && performance.now() < deadline) {
    server.closeIdleConnections();
    await pause(LOOK_MS);
  }
  server.closeAllConnections();
}

function lastOfItsConnection(res: http.ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}

function cannotListen(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): Error {
  if (error.code === 'EADDRINUSE') return new Error(`Port ${port} of ${host} is taken by another program. Stop that program, or choose another port with PORT.`);
  return new Error(`Cannot listen on ${host}:${port} (${error.code}). Set HOST to an address of this machine and PORT to a port this user may open.`);
}
