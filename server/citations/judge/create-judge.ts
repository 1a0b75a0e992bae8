import type { Judge } from './judge.js';
import { modelJudge } from './model-judge.js';
import { offlineJudge } from './offline-judge.js';

export interface JudgeConfig {
  llmBaseUrl?: string;
  llmModel?: string;
  llmApiKey?: string;
}

/** The model of LLM_BASE_URL, or the offline judge when that is unset. */
export function createJudge({ llmBaseUrl: baseUrl, llmModel: model, llmApiKey: apiKey }: JudgeConfig): Judge {
  return baseUrl && model ? modelJudge({ baseUrl, model, apiKey }) : offlineJudge();
}
