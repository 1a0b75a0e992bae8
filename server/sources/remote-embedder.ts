/**
 * Any OpenAI-compatible embeddings service. Promises: each try has its own time limit that also covers a body that never ends; a service
 * that is away is tried a few times with growing, jittered pauses and then reported as away, so that nothing is charged to the work.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany } from 'ai';
import { OutsideError, PermanentError, TransientError } from '../lease/errors.js';
import type { Embedder } from './embedder.js';
import { insistently, isAway, isMisconfigured, messageOf, MISCONFIGURED_PAUSE_MS, retryAfterMs, statusOf, type CallPolicy } from './outside-call.js';

export interface RemoteService {
  baseUrl: string;
  model: string;
  apiKey?: string;
  /** One try, to the last byte of its answer. */
  timeoutMs?: number;
  tries?: number;
  /** Pause after the first failed try; doubles each time, with jitter. */
  firstPauseMs?: number;
}

export function remoteEmbedder(service: RemoteService): Embedder {
  const policy: CallPolicy = { timeoutMs: 30_000, tries: 3, firstPauseMs: 500, ...service };
  const model = createOpenAICompatible({ name: 'embeddings', baseURL: service.baseUrl, apiKey: service.apiKey }).embeddingModel(service.model);
  const embedder = {
    model: service.model,
    dimensions: undefined as number | undefined,
    batchSize: 64,
    async embed(texts: readonly string[], signal: AbortSignal) {
      const ask = (own: AbortSignal) => embedMany({ model, values: [...texts], maxRetries: 0, maxParallelCalls: 1, abortSignal: own });
      const { embeddings } = await insistently(ask, policy, signal, faultOf);
      embedder.dimensions = checked(embeddings, texts.length, embedder.dimensions);
      return embeddings;
    },
  };
  return embedder;
}

function faultOf(error: unknown): Error {
  const status = statusOf(error);
  if (status === undefined) return away(`The embedding service cannot be reached: ${messageOf(error)}`, error);
  if (isAway(status)) return away(`The embedding service answered ${status}.`, error);
  const refused = `The embedding service refused the request with ${status}. Check EMBEDDINGS_BASE_URL, EMBEDDINGS_MODEL and EMBEDDINGS_API_KEY.`;
  if (isMisconfigured(status)) return new OutsideError('embeddings_refused', refused, { cause: error, retryAfterMs: MISCONFIGURED_PAUSE_MS });
  if (status >= 400) return new PermanentError('embeddings_refused', refused, { cause: error });
  // A body that was never complete is an outage; a complete one that says something else is a lie.
  if (APICallError.isInstance(error) && error.responseBody === undefined) return away('The embedding service broke off its answer.', error);
  return lie(`an answer (${status}) that does not follow the protocol`, error);
}

function away(message: string, cause: unknown): OutsideError {
  return new OutsideError('embeddings_unavailable', message, { cause, retryAfterMs: retryAfterMs(cause) });
}

function lie(what: string, cause?: unknown): TransientError {
  return new TransientError('embeddings_invalid', `The embedding service gave ${what}.`, { cause });
}

/** @returns the vectors' length. @throws TransientError when count, lengths or numbers are not what was asked for. */
function checked(vectors: number[][], count: number, dimensions: number | undefined): number {
  const length = dimensions ?? vectors[0]?.length ?? 0;
  if (vectors.length !== count) throw lie(`${vectors.length} vectors for ${count} texts`);
  if (length === 0 || vectors.some((vector) => vector.length !== length)) throw lie(`vectors whose length is not ${length || 'above zero'}`);
  if (!vectors.every((vector) => vector.every(Number.isFinite))) throw lie('vectors with values that are not numbers');
  return length;
}
