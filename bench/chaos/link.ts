/**
 * A TCP link to the database that can be a black hole for some of its users: connections are told apart by the application name in their first
 * packet. In a hole links stay open and nothing passes, not even a goodbye; when it closes, whatever was in it is cut off, as by a router that has forgotten it.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Link {
  port: number;
  /** Swallows what connections with such a name send and receive, until the returned function is called. */
  hole(concerns: (name: string) => boolean): () => void;
  /** Cuts everything. */
  cut(): void;
  close(): Promise<void>;
}

interface Connection { near: Socket; far: Socket; name: string; holes: number }

export async function openLink(to: { host: string; port: () => number }): Promise<Link> {
  const connections = new Set<Connection>();
  const holes = new Set<(name: string) => boolean>();

  const server = createServer((near) => {
    near.on('error', () => {});
    near.once('data', (first) => open(near, first));
  });

  function open(near: Socket, first: Buffer): void {
    const far = connect(to.port(), to.host);
    const connection = { near, far, name: nameIn(first), holes: 0 };
    connection.holes = [...holes].filter((concerns) => concerns(connection.name)).length;
    connections.add(connection);
    const pass = (from: Socket, into: Socket) => from.on('data', (data) => void (connection.holes === 0 && into.writable && into.write(data)));
    const end = () => {
      if (connection.holes > 0) return;
      near.destroy();
      far.destroy();
      connections.delete(connection);
    };
    pass(near, far);
    pass(far, near);
    for (const socket of [near, far]) socket.setNoDelay(true).on('close', end).on('error', () => {});
    if (connection.holes === 0) far.write(first);
  }

  function cut(which: (connection: Connection) => boolean): void {
    for (const connection of [...connections].filter(which)) {
      connection.near.destroy();
      connection.far.destroy();
      connections.delete(connection);
    }
  }

  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    port: (server.address() as AddressInfo).port,
    hole(concerns) {
      holes.add(concerns);
      const inside = [...connections].filter(({ name }) => concerns(name));
      for (const connection of inside) connection.holes += 1;
      return () => {
        holes.delete(concerns);
        const stillIn = (connection: Connection) => [...holes].some((other) => other(connection.name));
        cut((connection) => concerns(connection.name) && !stillIn(connection));
        for (const connection of connections) connection.holes = [...holes].filter((other) => other(connection.name)).length;
      };
    },
    cut: () => cut(() => true),
    async close() {
      cut(() => true);
      await new Promise((resolve) => { server.close(resolve); });
    },
  };
}

/** The startup packet is a list of names and values, each ended by a zero byte. */
function nameIn(packet: Buffer): string {
  const words = packet.subarray(8).toString('latin1').split('\0');
  const at = words.indexOf('application_name');
  return at < 0 ? '' : words[at + 1] ?? '';
}
