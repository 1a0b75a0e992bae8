/** What a delivery costs Node at all: an HTTP server that keeps its answers open and writes the same event to each, at the pace of the live board. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const WINDOW_MS = 100;
const open = new Set<http.ServerResponse>();
const server = http.createServer((_req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('event: snapshot\ndata: {}\n\n');
  open.add(res);
  res.once('close', () => open.delete(res));
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit(0));

process.on('message', ({ bytes, seconds }: { bytes: number; seconds: number }) => {
  const [head, tail] = ['event: rows\ndata: {"filler":"', '"}\n\n'];
  const event = head + 'x'.repeat(Math.max(0, bytes - head.length - tail.length)) + tail;
  let left = Math.round((seconds * 1000) / WINDOW_MS);
  const timer = setInterval(() => {
    for (const res of open) res.write(event);
    if (--left > 0) return;
    clearInterval(timer);
    process.send!('written');
  }, WINDOW_MS);
});
