import type { Config } from '../../config.js';
import type { Judge } from './judge.js';
import { modelJudge } from './model-judge.js';
import { offlineJudge } from './offline-judge.js';

/** The model of LLM_BASE_URL, or the offline judge when that is unset. */
export function createJudge({ llmBaseUrl: baseUrl, llmModel: model, llmApiKey: apiKey }: Partial<Pick<Config, 'llmBaseUrl' | 'llmModel' | 'llmApiKey'>>): Judge {
  return baseUrl && model ? modelJudge({ baseUrl, model, apiKey }) : offlineJudge();
}
