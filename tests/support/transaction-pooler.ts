/**
 * A transaction pooler as small as can be: clients are let in without a password, and each transaction runs on whichever backend was
 * given back last. Enough of PgBouncer's behaviour to be mistaken for a direct connection, and to be lived with: a backend that ends takes its
 * client with it, a client that leaves in mid-transaction takes its backend, and who finds all backends busy waits.
 */
import net from 'node:net';
import pg from 'pg';

interface Backend { socket: net.Socket; serves?: net.Socket; unread: Buffer }

export interface TransactionPooler {
  url: string;
  /** Ends every client and backend, as a restart of the pooler does; the next client finds it up. */
  cut(): void;
  stop(): Promise<void>;
}

/** @param size at most so many backends. */
export async function startTransactionPooler(url: string, size = 100): Promise<TransactionPooler> {
  const backends = new Set<Backend>();
  const idle: Backend[] = [];
  const clients = new Set<net.Socket>();
  /** What clients have sent that no backend has had yet. */
  const waiting = new Map<net.Socket, Buffer[]>();
  let opening = 0;

  /** Logs in as a client would, and then takes the socket from it. */
  async function open(): Promise<void> {
    opening += 1;
    const client = new pg.Client({ connectionString: url, application_name: 'pooler backend', connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      const socket = (client as unknown as { connection: { stream: net.Socket } }).connection.stream;
      socket.removeAllListeners('data');
      const backend: Backend = { socket, unread: Buffer.alloc(0) };
      socket.on('data', (data) => fromBackend(backend, data)).on('error', () => {}).on('close', () => lost(backend));
      backends.add(backend);
      give(backend);
    } catch {
      for (const [one] of waiting) one.destroy(); // nobody can be served: they hear of it rather than wait
    } finally {
      opening -= 1;
    }
  }

  function lost(backend: Backend): void {
    backends.delete(backend);
    if (idle.includes(backend)) idle.splice(idle.indexOf(backend), 1);
    backend.serves?.destroy();
    serveNext();
  }

  /** To whoever waits longest. */
  function give(backend: Backend): void {
    backend.serves = undefined;
    const next = waiting.entries().next().value;
    if (!next) return void idle.push(backend);
    const [client, sent] = next;
    waiting.delete(client);
    backend.serves = client;
    for (const data of sent) backend.socket.write(data);
  }

  function serveNext(): void {
    while (waiting.size > 0 && idle.length > 0) give(idle.pop()!);
    for (let n = opening; n < waiting.size && backends.size + opening < size; n++) void open();
  }

  function fromBackend(backend: Backend, data: Buffer): void {
    backend.serves?.write(data);
    backend.unread = Buffer.concat([backend.unread, data]);
    while (backend.unread.length >= 5 && backend.unread.length > backend.unread.readInt32BE(1)) {
      const end = backend.unread.readInt32BE(1) + 1;
      const [type, status] = [String.fromCharCode(backend.unread[0]!), String.fromCharCode(backend.unread[5]!)];
      backend.unread = backend.unread.subarray(end);
      if (type === 'Z' && status === 'I') give(backend);
    }
  }

  function fromClient(client: net.Socket, data: Buffer): void {
    const backend = [...backends].find((one) => one.serves === client);
    if (backend) return void backend.socket.write(data);
    const sent = waiting.get(client);
    if (sent) return void sent.push(data);
    if (data[0] === 0x58 && data.length === 5) return void client.end();   // Terminate
    waiting.set(client, [data]);
    serveNext();
  }

  function left(client: net.Socket): void {
    clients.delete(client);
    waiting.delete(client);
    for (const backend of backends) if (backend.serves === client) backend.socket.destroy();
  }

  function cut(): void {
    for (const client of clients) client.destroy();
    for (const backend of backends) backend.socket.destroy();
  }

  const server = net.createServer((client) => {
    clients.add(client);
    client.on('error', () => {}).on('close', () => left(client));
    client.once('data', () => {
      client.write(welcome());
      client.on('data', (data) => fromClient(client, data));
    });
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address() as net.AddressInfo;
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    cut,
    async stop() {
      cut();
      await new Promise((resolve) => { server.close(resolve); });
    },
  };
}

/** AuthenticationOk, BackendKeyData, ReadyForQuery. */
function welcome(): Buffer {
  return Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x4b, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1, 0x5a, 0, 0, 0, 5, 0x49]);
}
