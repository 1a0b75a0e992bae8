/**
 * Browsers of the live stream, on raw sockets: they count what comes. One stream of each topic also reads it and notes when each change of the row
 * it watches arrived; were all to, they would take the processor that is measured.
 */
import net from 'node:net';
import { machineMs } from './clock.js';

export interface Watch { port: number; perTopic: number; topics: { path: string; cookie: string }[] }
export interface Seen {
  deliveries: number;
  /** Of events that brought rows. */
  bytes: number[];
  /** By topic: a row's progress, and when it was seen first. */
  receipts: [done: number, at: number][][];
}

type Message = { watch: Watch } | { seen: { until: number[] } } | { leave: true };

const ARRIVAL_LIMIT_MS = 30_000;
const NEEDLE = Buffer.from('event: ');
let sockets: net.Socket[] = [];
let seen: Seen = { deliveries: 0, bytes: [], receipts: [] };
let arrived = () => {};

process.on('message', (message: Message) => void handle(message).then((answer) => process.send!(answer)));
process.once('disconnect', () => process.exit(0));

async function handle(message: Message): Promise<unknown> {
  if ('watch' in message) return open(message.watch);
  if ('seen' in message) return lastSeen(message.seen.until);
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve).destroy())));
  return 'left';
}

async function open({ port, perTopic, topics }: Watch): Promise<string> {
  sockets = [];
  seen = { deliveries: 0, bytes: [], receipts: topics.map(() => []) };
  for (const [topic, { path, cookie }] of topics.entries()) {
    // Another place in the order of streams for each topic: the last of them is served last.
    const reader = topic % perTopic;
    await Promise.all(Array.from({ length: perTopic }, (_, n) => connect({ port, path, cookie, topic, reads: n === reader })));
  }
  seen.deliveries = 0;
  return 'watching';
}

function connect({ port, path, cookie, topic, reads }: { port: number; path: string; cookie: string; topic: number; reads: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nCookie: ${cookie}\r\nAccept: text/event-stream\r\n\r\n`);
    const read = reads ? reader(topic) : undefined;
    let head = '';
    socket.on('error', reject).on('close', () => reject(new Error(`a stream ended: ${head.slice(0, 200)}`))).on('data', (part) => {
      for (let at = part.indexOf(NEEDLE); at >= 0; at = part.indexOf(NEEDLE, at + 1)) seen.deliveries += 1;
      read?.(part);
      if (head.includes('event: snapshot')) return;
      head += part.toString('latin1');
      if (head.includes('event: snapshot')) resolve();
    });
  });
}

function reader(topic: number): (part: Buffer) => void {
  let rest = '';
  return (part) => {
    const at = machineMs();
    const blocks = (rest + part.toString('utf8')).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const event = /event: (?:rows|list)\ndata: (.*)$/s.exec(block);
      if (event) take(topic, event[1]!, Buffer.byteLength(event[0]) + 2, at);
    }
  };
}

function take(topic: number, json: string, bytes: number, at: number): void {
  const data = JSON.parse(json) as { rows?: { done: number }[]; data?: { rows: { done: number }[] } };
  if (data.rows) seen.bytes.push(bytes);
  const receipts = seen.receipts[topic]!;
  for (const { done } of data.rows ?? data.data?.rows ?? []) {
    if (done > (receipts.at(-1)?.[0] ?? -1)) receipts.push([done, at]);
  }
  arrived();
}

/** What was seen once the last change of each topic has been. */
async function lastSeen(until: number[]): Promise<Seen> {
  const all = () => until.every((done, topic) => (seen.receipts[topic]!.at(-1)?.[0] ?? -1) >= done);
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`expected the last change of each row within ${ARRIVAL_LIMIT_MS} ms`)), ARRIVAL_LIMIT_MS);
    arrived = () => {
      if (!all()) return;
      clearTimeout(late);
      resolve();
    };
    arrived();
  });
  return seen;
}
