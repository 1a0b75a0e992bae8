/** An OpenAI-compatible model for tests: it answers as it is told, well or badly. Usable from other processes by its `baseUrl`. */
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One request: the conversation so far, and what is to be judged. */
export interface Asked {
  messages: { role: string; content: string }[];
  claim: string;
  passages: { number: number; text: string }[];
  /** 0 at first, 1 in the repair turn. */
  turn: number;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

export type StubAnswer = (asked: Asked, response: http.ServerResponse) => void | Promise<void>;

export interface ModelStub {
  baseUrl: string;
  /** Requests so far. */
  asked: Asked[];
  /** Connections that are open now. */
  readonly openSockets: number;
  /** From now on, it answers so; the list's last answer is repeated. */
  behave(...answers: StubAnswer[]): void;
  close(): Promise<void>;
}

export interface Opinion {
  verdict: 'supported' | 'partly_supported' | 'not_supported';
  confidence?: number;
  evidence?: { passage: number; quote: string }[];
  rationale?: string;
}

export async function modelStub(...first: StubAnswer[]): Promise<ModelStub> {
  let answers = first;
  let given = 0;
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  // Short, so that a test sees soon whether a connection was left open.
  const server = http.createServer(async (request, response) => {
    const one = await read(request).catch(() => undefined);
    if (!one) return response.destroy();
    asked.push(one);
    const answer = answers[Math.min(given++, answers.length - 1)];
    await answer?.(one, response);
  });
  server.keepAliveTimeout = 100;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked,
    get openSockets() { return sockets.size; },
    behave(...next) {
      answers = next;
      given = 0;
    },
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

async function read(request: http.IncomingMessage): Promise<Asked> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = JSON.parse(Buffer.concat(parts).toString()) as { messages: Asked['messages'] };
  const users = body.messages.filter(({ role }) => role === 'user');
  const { claim, passages } = JSON.parse(users[0]!.content) as Pick<Asked, 'claim' | 'passages'>;
  return { messages: body.messages, claim, passages, turn: users.length - 1, authorization: request.headers.authorization, body };
}

/** The model says exactly this. */
export function says(text: string | ((asked: Asked) => string), finish = 'stop'): StubAnswer {
  return (asked, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(completion(typeof text === 'string' ? text : text(asked), finish));
  };
}

export function thinks(opinion: Opinion | ((asked: Asked) => Opinion)): StubAnswer {
  return says((asked) => JSON.stringify({ confidence: 0.9, evidence: [], rationale: 'So says the stub.', ...(typeof opinion === 'function' ? opinion(asked) : opinion) }));
}

function completion(content: string, finish: string): string {
  return JSON.stringify({
    id: 'c', object: 'chat.completion', created: 0, model: 'stub', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', content } }],
  });
}

/** Answers well: the verdict that `key` gives for the claim, with the sentence of the passages that shares most words with it. */
export function knowing(key: (claim: string) => Opinion['verdict'] | undefined): StubAnswer {
  return thinks((asked) => {
    const verdict = key(asked.claim) ?? 'not_supported';
    return { verdict, evidence: [nearestSentence(asked)].filter((one) => one !== undefined) };
  });
}

export function nearestSentence({ claim, passages }: Asked): { passage: number; quote: string } | undefined {
  const wanted = new Set(claim.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const shared = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => wanted.has(word)).length;
  const sentences = passages.flatMap(({ number, text }) => text.split(/(?<=[.!?])\s+/).map((quote) => ({ passage: number, quote })));
  return sentences.sort((a, b) => shared(b.quote) - shared(a.quote))[0];
}

/** Invents its evidence, in both turns. */
export const lies = thinks({ verdict: 'supported', confidence: 1, evidence: [{ passage: 0, quote: 'It has been proven beyond any doubt that all of this is true.' }] });

export const talks = says('I would be glad to help! In my opinion the source rather supports the claim, but it depends.');

/** A complete body that is no answer of a model. */
export const nonsense: StubAnswer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<html>Gateway</html>');
};

export function refuses(status: number, headers: Record<string, string> = {}): StubAnswer {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: `The stub says ${status}.` } }));
  };
}

export const hangs: StubAnswer = () => undefined;

/** Headers and a beginning, then silence. */
export const neverEnds: StubAnswer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"id":"c","choices":[');
};

/** White space without end, as fast as it is read. */
export const floods: StubAnswer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  };
  response.on('drain', more);
  more();
};

export const cutsOff: StubAnswer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
  response.write('{"id":"c","choices":[', () => response.destroy());
};

/** Waits, unless the caller leaves, then answers. */
export function slowly(ms: number, answer: StubAnswer): StubAnswer {
  return async (asked, response) => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      response.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    if (!response.destroyed) await answer(asked, response);
  };
}
