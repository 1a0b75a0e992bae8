/** Many clients that poll, each over a connection that it keeps, one request after the other. Raw sockets: a full client would take more of the processor than the server. */
import net from 'node:net';

export interface Polls { port: number; connections: number; requests: number; token: string; paths: string[]; remember: boolean }
export interface Polled { ms: number; statuses: Record<string, number> }

process.on('message', (polls: Polls) => void pollAll(polls).then((polled) => process.send!(polled)));
process.once('disconnect', () => process.exit(0));

async function pollAll(polls: Polls): Promise<Polled> {
  const clients = await Promise.all(Array.from({ length: polls.connections }, (_, n) => connect(polls, polls.paths[n % polls.paths.length]!)));
  await Promise.all(clients.map((client) => client.once())); // the first answer brings the ETag
  const statuses: Record<string, number> = {};
  let left = polls.requests;
  const from = performance.now();
  await Promise.all(clients.map(async (client) => {
    while (left-- > 0) {
      const status = await client.once();
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }));
  const ms = performance.now() - from;
  for (const client of clients) client.end();
  return { ms, statuses };
}

async function connect({ port, token, remember }: Polls, path: string): Promise<{ once(): Promise<string>; end(): void }> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let request = requestFor();
  let got = '';
  let answered: (status: string) => void;
  let failed: (error: Error) => void;

  function requestFor(tag?: string): string {
    return `GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n${tag ? `If-None-Match: ${tag}\r\n` : ''}\r\n`;
  }

  socket.setEncoding('latin1').on('data', (text: string) => {
    got += text;
    const head = got.indexOf('\r\n\r\n');
    if (head < 0 || got.length < head + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(got)?.[1] ?? 0)) return;
    const tag = remember ? /\r\netag: (\S+)/i.exec(got)?.[1] : undefined;
    if (tag) request = requestFor(tag);
    const status = got.slice(9, 12);
    got = '';
    answered(status);
  });
  socket.on('error', (error) => failed?.(error)).on('close', () => failed?.(new Error('the server closed a connection')));

  return {
    once: () => new Promise((resolve, reject) => {
      [answered, failed] = [resolve, reject];
      socket.write(request);
    }),
    end: () => socket.destroy(),
  };
}
