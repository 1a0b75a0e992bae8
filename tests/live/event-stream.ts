import http from 'node:http';

export interface SentEvent {
  event: string;
  data: any;
}

export interface EventStream {
  status: number;
  headers: http.IncomingHttpHeaders;
  events: SentEvent[];
  of(event: string): SentEvent['data'][];
  pings(): number;
  /** Stops and goes on reading: a browser that is too slow. */
  pause(): void;
  resume(): void;
  ended(): boolean;
  close(): void;
}

/** A browser's end of GET /live, with its own connection. */
export function openStream(url: string, topics: string[], cookie: string): Promise<EventStream> {
  const address = `${url}/live?topics=${topics.map(encodeURIComponent).join(',')}`;
  return new Promise((resolve, reject) => {
    const request = http.get(address, { headers: { cookie, accept: 'text/event-stream' }, agent: false }, (response) => {
      const stream = readStream(response);
      resolve({ ...stream, close: () => request.destroy() });
    });
    request.on('error', reject);
  });
}

function readStream(response: http.IncomingMessage): Omit<EventStream, 'close'> {
  const events: SentEvent[] = [];
  let pings = 0;
  let ended = false;
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) pings += 1;
      const event = /^event: (.*)$/m.exec(block)?.[1];
      if (event) events.push({ event, data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!) });
    }
  });
  response.on('close', () => (ended = true)).on('error', () => (ended = true));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    of: (name) => events.filter(({ event }) => event === name).map(({ data }) => data),
    pings: () => pings,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    ended: () => ended,
  };
}
