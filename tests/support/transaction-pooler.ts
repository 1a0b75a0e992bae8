/**
 * A transaction pooler as small as can be: clients are let in without a password, and each transaction runs on whichever backend was
 * given back last. Enough of PgBouncer's behaviour to be mistaken for a direct connection.
 */
import net from 'node:net';
import pg from 'pg';

type Backend = { socket: net.Socket; client: pg.Client; serves?: net.Socket; unread: Buffer };

export async function startTransactionPooler(url: string): Promise<{ url: string; stop(): Promise<void> }> {
  const backends: Backend[] = [];
  const idle: Backend[] = [];
  const clients = new Set<net.Socket>();

  async function newBackend(): Promise<Backend> {
    const client = new pg.Client({ connectionString: url, application_name: 'pooler backend' });
    client.on('error', () => {});
    await client.connect();
    const socket = (client as unknown as { connection: { stream: net.Socket } }).connection.stream;
    socket.removeAllListeners('data');
    const backend: Backend = { socket, client, unread: Buffer.alloc(0) };
    socket.on('data', data => fromBackend(backend, data));
    backends.push(backend);
    return backend;
  }

  function fromBackend(backend: Backend, data: Buffer): void {
    backend.serves?.write(data);
    backend.unread = Buffer.concat([backend.unread, data]);
    while (backend.unread.length >= 5 && backend.unread.length > backend.unread.readInt32BE(1)) {
      const end = backend.unread.readInt32BE(1) + 1;
      const [type, status] = [String.fromCharCode(backend.unread[0]!), String.fromCharCode(backend.unread[5]!)];
      backend.unread = backend.unread.subarray(end);
      if (type === 'Z' && status === 'I') {
        backend.serves = undefined;
        idle.push(backend);
      }
    }
  }

  async function fromClient(client: net.Socket, data: Buffer): Promise<void> {
    if (data[0] === 0x58) return;   // Terminate
    let backend = backends.find(one => one.serves === client) ?? idle.pop();
    backend ??= await newBackend();
    backend.serves = client;
    backend.socket.write(data);
  }

  const server = net.createServer(client => {
    clients.add(client);
    client.on('error', () => {});
    client.once('data', () => {
      client.write(welcome());
      client.on('data', data => void fromClient(client, data));
    });
  });
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address() as net.AddressInfo;
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    async stop() {
      clients.forEach(client => client.destroy());
      backends.forEach(backend => backend.socket.destroy());
      await new Promise(resolve => { server.close(resolve); });
    },
  };
}

/** AuthenticationOk, BackendKeyData, ReadyForQuery. */
function welcome(): Buffer {
  return Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x4b, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1, 0x5a, 0, 0, 0, 5, 0x49]);
}
