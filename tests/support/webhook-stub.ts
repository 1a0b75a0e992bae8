/** A receiver of the webhook for tests: it takes, refuses, hangs, lies and redirects as it is told. Usable from other processes by its `url`. */
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Told {
  body: Record<string, any>;
  /** As it came. */
  text: string;
  headers: http.IncomingHttpHeaders;
  path: string;
}

export type Behaviour = (told: Told, response: http.ServerResponse) => void;

export interface WebhookStub {
  url: string;
  host: string;
  /** Every request, taken or not. */
  asked: Told[];
  /** Those that were answered 2xx. */
  taken: Told[];
  /** Connections that are open now. */
  readonly openSockets: number;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** Its address has a secret in it, as those of real receivers do. */
export const SECRET = 'hook-secret-0123456789';

export const takes: Behaviour = (_, response) => void response.writeHead(204).end();
export const answers = (status: number, headers: http.OutgoingHttpHeaders = {}): Behaviour => (_, response) => void response.writeHead(status, headers).end('an answer');
export const hangs: Behaviour = () => undefined;
/** Takes the message and says nothing of it. */
export const breaksOff: Behaviour = (_, response) => void response.destroy();
/** Says yes, and goes on talking. */
export const neverEnds: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  const timer = setInterval(() => response.write('x'.repeat(64 * 1024)), 5);
  response.on('close', () => clearInterval(timer));
};

export async function webhookStub(port = 0): Promise<WebhookStub> {
  let behaviour = takes;
  const [asked, taken] = [[] as Told[], [] as Told[]];
  const sockets = new Set<Socket>();
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part)).on('error', () => undefined).on('end', () => {
      const text = Buffer.concat(parts).toString();
      const told = { body: JSON.parse(text || '{}') as Record<string, any>, text, headers: request.headers, path: request.url ?? '' };
      asked.push(told);
      response.writeHead = new Proxy(response.writeHead, { apply(write, self, given) {
        if (given[0] < 300) taken.push(told);
        return Reflect.apply(write, self, given);
      } });
      behaviour(told, response);
    });
  });
  server.keepAliveTimeout = 100;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => { server.listen(port, '127.0.0.1', resolve); });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/services/${SECRET}`, host, asked, taken,
    get openSockets() { return sockets.size; },
    behave(next) { behaviour = next; },
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}
