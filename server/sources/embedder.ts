import type { Config } from '../config.js';
import { offlineEmbedder } from './offline-embedder.js';
import { remoteEmbedder } from './remote-embedder.js';

/** Turns texts into vectors of equal length, one a text, in the order given. */
export interface Embedder {
  /** Stored beside each vector: vectors of different models are never compared. */
  model: string;
  /** Length of a vector; undefined until a remote service has shown it. */
  readonly dimensions: number | undefined;
  /** Texts of one call; more are cut into several by the caller. */
  batchSize: number;
  /**
   * @throws OutsideError when the service is away, PermanentError when it refuses the request, TransientError when its answer is no
   * answer; the signal's reason when aborted.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
}

/** The service of EMBEDDINGS_BASE_URL, or the offline embedder when that is unset. */
export function createEmbedder(config: Partial<Pick<Config, 'embeddingsBaseUrl' | 'embeddingsModel' | 'embeddingsApiKey'>>): Embedder {
  const { embeddingsBaseUrl: baseUrl, embeddingsModel: model, embeddingsApiKey: apiKey } = config;
  return baseUrl && model ? remoteEmbedder({ baseUrl, model, apiKey }) : offlineEmbedder();
}
