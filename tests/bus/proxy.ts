import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

export interface Proxy {
  /** The database's URL, by way of this proxy. */
  url: string;
  /** forward; hole: links stay open and nothing passes; refuse: everything is cut, nothing is accepted. */
  set(mode: 'forward' | 'hole' | 'refuse'): void;
  /** Connections made so far, refused ones included. */
  attempts(): number;
  close(): Promise<void>;
}

/** A TCP link to the database that a test can break. */
export async function createProxy(databaseUrl: string): Promise<Proxy> {
  const { hostname, port } = new URL(databaseUrl);
  const links = new Set<{ near: Socket; far: Socket }>();
  let mode: 'forward' | 'hole' | 'refuse' = 'forward';
  let attempts = 0;

  const server = createServer((near) => {
    attempts += 1;
    if (mode === 'refuse') return void near.destroy();
    const far = connect(Number(port), hostname);
    const link = { near, far };
    links.add(link);
    const end = () => {
      if (mode === 'hole') return; // a black hole swallows the goodbye too
      near.destroy();
      far.destroy();
      links.delete(link);
    };
    const pass = (from: Socket, to: Socket) => from.on('data', (data) => void (mode === 'forward' && to.writable && to.write(data)));
    pass(near, far);
    pass(far, near);
    for (const socket of [near, far]) socket.on('close', end).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const { near, far } of links) {
      near.destroy();
      far.destroy();
    }
    links.clear();
  };
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    set(next) {
      if (next === 'refuse' || mode === 'hole') cut();
      mode = next;
    },
    attempts: () => attempts,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
