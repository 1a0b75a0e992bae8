import { getEventListeners } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { OutsideError, PermanentError, TransientError } from '../../server/lease/errors.js';
import { createEmbedder } from '../../server/sources/embedder.js';
import { remoteEmbedder, type RemoteService } from '../../server/sources/remote-embedder.js';
import { diesMidBody, embeddingService, hangs, honest, neverEnds, nonsense, status, vectors, type Answer, type EmbeddingService } from './embedding-service.js';

let service: EmbeddingService | undefined;
const never = new AbortController().signal;

afterEach(async () => {
  await service?.close();
  service = undefined;
});

async function embedderWith(answers: Answer[], options: Partial<RemoteService> = {}) {
  service = await embeddingService(...answers);
  return remoteEmbedder({ baseUrl: service.baseUrl, model: 'm', apiKey: 'secret', timeoutMs: 400, firstPauseMs: 5, ...options });
}

async function failureOf(answers: Answer[], texts = ['a', 'bb']): Promise<unknown> {
  const embedder = await embedderWith(answers);
  return embedder.embed(texts, never).catch((error: unknown) => error);
}

test('vectors come back in the order of the texts, and the key is sent', async () => {
  const embedder = await embedderWith([honest]);
  expect(await embedder.embed(['a', 'bb', 'ccc'], never)).toEqual([[1, 0.5, -0.5], [2, 0.5, -0.5], [3, 0.5, -0.5]]);
  expect(embedder.dimensions).toBe(3);
  expect(service?.headers[0]?.authorization).toBe('Bearer secret');
});

test('a service that stumbles twice is asked a third time', async () => {
  const embedder = await embedderWith([status(503), diesMidBody, honest]);
  expect(await embedder.embed(['a'], never)).toEqual([[1, 0.5, -0.5]]);
  expect(service?.asked).toHaveLength(3);
});

test.each([
  ['answers 500', status(500), 3],
  ['answers 429', status(429), 3],
  ['never answers', hangs, 3],
  ['sends a body that never ends', neverEnds, 3],
  ['dies in the middle of its answer', diesMidBody, 3],
])('a service that %s is away, after three tries', async (_, answer, tries) => {
  const failure = await failureOf([answer]);
  expect(failure).toBeInstanceOf(OutsideError);
  expect(failure).toMatchObject({ code: 'embeddings_unavailable' });
  expect(service?.asked).toHaveLength(tries);
});

test('a service that nobody runs is away', async () => {
  const embedder = await embedderWith([honest]);
  await service?.close();
  await expect(embedder.embed(['a'], never)).rejects.toMatchObject({ name: 'OutsideError', code: 'embeddings_unavailable' });
});

test('a long Retry-After is not waited for here but handed on', async () => {
  const failure = await failureOf([status(429, { 'retry-after': '120' })]);
  expect(failure).toMatchObject({ name: 'OutsideError', retryAfterMs: 120_000 });
  expect(service?.asked).toHaveLength(1);
});

test.each([401, 403, 404])('a refusal with %i is one of our settings: asked once, and nothing fails for it', async (code) => {
  const failure = await failureOf([status(code)]);
  expect(failure).toMatchObject({ name: 'OutsideError', code: 'embeddings_refused', retryAfterMs: 60_000, message: expect.stringContaining('EMBEDDINGS_MODEL') });
  expect(service?.asked).toHaveLength(1);
});

test.each([400, 422])('a refusal with %i is final and asked once', async (code) => {
  const failure = await failureOf([status(code)]);
  expect(failure).toBeInstanceOf(PermanentError);
  expect(failure).toMatchObject({ code: 'embeddings_refused', message: expect.stringContaining('EMBEDDINGS_MODEL') });
  expect(service?.asked).toHaveLength(1);
});

test.each<[string, Answer]>([
  ['fewer vectors than texts', (texts, response, request) => honest(texts.slice(1), response, request)],
  ['vectors of different lengths', vectors((_, index) => (index === 0 ? [1, 2] : [1, 2, 3]))],
  ['empty vectors', vectors(() => [])],
  ['values that are not numbers', vectors(() => [1, null, 'x'])],
  ['values beyond any number', (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"object":"list","model":"m","data":[{"embedding":[1e999,1]},{"embedding":[1,1]}]}');
  }],
  ['pages of HTML', nonsense],
])('%s are no answer', async (_, answer) => {
  const failure = await failureOf([answer]);
  expect(failure).toBeInstanceOf(TransientError);
  expect(failure).toMatchObject({ code: 'embeddings_invalid' });
});

test('vectors whose length changes from one call to the next are no answer', async () => {
  const embedder = await embedderWith([honest, vectors(() => [1, 2])]);
  await embedder.embed(['a'], never);
  await expect(embedder.embed(['a'], never)).rejects.toMatchObject({ code: 'embeddings_invalid' });
});

test('an abort is heard at once, while asking and while pausing, and leaves no listener', async () => {
  for (const [answer, firstPauseMs] of [[hangs, 5], [status(500), 4_000]] as const) {
    const embedder = await embedderWith([answer], { timeoutMs: 20_000, firstPauseMs });
    const controller = new AbortController();
    const outcome = embedder.embed(['a'], controller.signal).catch((error: unknown) => error);
    await expect.poll(() => service?.asked.length).toBe(1);
    const reason = new Error('lease lost');
    const from = performance.now();
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    expect(performance.now() - from).toBeLessThan(1_000);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await service?.close();
  }
});

test('without a configured service the offline embedder is used', () => {
  expect(createEmbedder({}).model).toBe('offline-hash-384');
  expect(createEmbedder({ embeddingsBaseUrl: 'http://127.0.0.1:1/v1', embeddingsModel: 'bge' }).model).toBe('bge');
});
