import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the stub does with one request; `texts` is what was asked for. */
export type Answer = (texts: string[], response: http.ServerResponse, request: http.IncomingMessage) => void;

export interface EmbeddingService {
  baseUrl: string;
  /** Texts of each request so far. */
  asked: string[][];
  headers: http.IncomingHttpHeaders[];
  close(): Promise<void>;
}

/** A local service that answers its n-th request with the n-th answer; the last one is repeated. */
export async function embeddingService(...answers: Answer[]): Promise<EmbeddingService> {
  const asked: string[][] = [];
  const headers: http.IncomingHttpHeaders[] = [];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const texts = (JSON.parse(body) as { input: string[] }).input;
    headers.push(request.headers);
    const answer = answers[Math.min(asked.push(texts), answers.length) - 1];
    answer?.(texts, response, request);
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked, headers,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

export function vectors(of: (text: string, index: number) => unknown[]): Answer {
  return (texts, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', model: 'm', data: texts.map((text, index) => ({ object: 'embedding', index, embedding: of(text, index) })), usage: { prompt_tokens: 1, total_tokens: 1 } }));
  };
}

/** The length of the text, then two constants. */
export const honest = vectors((text) => [text.length, 0.5, -0.5]);

export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (_, response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: `stub says ${code}` } }));
  };
}

export const hangs: Answer = () => undefined;

export const neverEnds: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"object":"list","data":[');
};

export const diesMidBody: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
  response.write('{"object":"list","data":[', () => response.destroy());
};

export const nonsense: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('<html>Gateway</html>');
};
