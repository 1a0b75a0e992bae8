/**
 * Any OpenAI-compatible model as judge. Promises: every call ends, by its answer, its time limit or the signal; a model that is away costs
 * the work nothing; an answer without form gets one more turn; no quote is believed before it was found.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, NoObjectGeneratedError, Output, type ModelMessage } from 'ai';
import { OutsideError, PermanentError, TransientError } from '../../lease/errors.js';
import { cappedFetch } from '../../sources/capped-fetch.js';
import { insistently, isAway, isMisconfigured, messageOf, MISCONFIGURED_PAUSE_MS, retryAfterMs, statusOf, type CallPolicy } from '../../sources/outside-call.js';
import type { Judge, JudgedPassage, Judgement } from './judge.js';
import { answerSchema, INSTRUCTIONS, question, repairRequest } from './prompt.js';
import { readAnswer } from './read-answer.js';

export interface ModelService extends Partial<CallPolicy> {
  baseUrl: string;
  model: string;
  apiKey?: string;
}

/** An answer has some thousand bytes, a model's thoughts some ten thousand. */
const MOST_BYTES = 2_000_000;
/** Of an answer without form, shown to the model again. */
const LONGEST_ECHO = 4_000;

export function modelJudge(service: ModelService): Judge {
  const policy: CallPolicy = { timeoutMs: 60_000, tries: 3, firstPauseMs: 500, ...service };
  const provider = createOpenAICompatible({ name: 'judge', baseURL: service.baseUrl, apiKey: service.apiKey, supportsStructuredOutputs: true, fetch: cappedFetch(MOST_BYTES) });
  const model = provider.chatModel(service.model);
  // Not every compatible service knows response_format; the instructions ask for the same form, and the answer is read just as strictly.
  let withSchema = true;
  const generate = (messages: ModelMessage[], abortSignal: AbortSignal) => textOf(() => generateText({
    model, messages, system: INSTRUCTIONS, ...(withSchema ? { output: Output.object({ schema: answerSchema }) } : {}), maxRetries: 0, abortSignal,
  }));
  const ask = (messages: ModelMessage[], signal: AbortSignal) => insistently(async (own) => {
    try {
      return await generate(messages, own);
    } catch (error) {
      if (!withSchema || !rejectsSchema(error)) throw error;
      withSchema = false;
      return generate(messages, own);
    }
  }, policy, signal, faultOf);
  return {
    label: `model:${service.model}`,
    judge: async (claim, passages, signal) => {
      signal.throwIfAborted();
      if (passages.length === 0) return nothingToRead();
      return converse(question(claim, passages), passages, (messages) => ask(messages, signal));
    },
  };
}

/** One question, and one repair if its answer cannot be used as it is. */
async function converse(asked: string, passages: readonly JudgedPassage[], ask: (messages: ModelMessage[]) => Promise<string>): Promise<Judgement> {
  const opening: ModelMessage[] = [{ role: 'user', content: asked }];
  const said = await ask(opening);
  const first = readAnswer(said, passages);
  if (first.fault === undefined) return first.judgement!;
  const again = await ask([...opening, { role: 'assistant', content: said.slice(0, LONGEST_ECHO) || '(nothing)' }, { role: 'user', content: repairRequest(first.fault) }]);
  const second = readAnswer(again, passages);
  const judgement = second.judgement ?? first.judgement;
  if (!judgement) throw new TransientError('model_invalid', `The model answered twice without a verdict: ${second.fault}`);
  return judgement;
}

function nothingToRead(): Judgement {
  return { verdict: 'not_supported', confidence: 0.2, evidence: [], rationale: 'No passage of the source could be found for this claim.' };
}

/** What the model said, whatever form it has. */
async function textOf(generate: () => Promise<{ text: string }>): Promise<string> {
  try {
    return (await generate()).text;
  } catch (error) {
    if (NoObjectGeneratedError.isInstance(error)) return error.text ?? '';
    throw error;
  }
}

function rejectsSchema(error: unknown): boolean {
  const status = statusOf(error);
  return (status === 400 || status === 422) && APICallError.isInstance(error) && /response_format|json_schema|structured/i.test(error.responseBody ?? '');
}

function faultOf(error: unknown): Error {
  const status = statusOf(error);
  if (status === undefined) return away(`The model cannot be reached: ${messageOf(error)}`, error);
  if (isAway(status)) return away(`The model answered ${status}.`, error);
  const refused = `The model refused the request with ${status}. Check LLM_BASE_URL, LLM_MODEL and LLM_API_KEY.`;
  if (isMisconfigured(status)) return new OutsideError('model_refused', refused, { cause: error, retryAfterMs: MISCONFIGURED_PAUSE_MS });
  if (status >= 400) return new PermanentError('model_refused', refused, { cause: error });
  const broken = APICallError.isInstance(error) && error.responseBody === undefined;
  return away(broken ? 'The model broke off its answer.' : `The model's service gave an answer (${status}) that does not follow the protocol.`, error);
}

function away(message: string, cause: unknown): OutsideError {
  return new OutsideError('model_unavailable', message, { cause, retryAfterMs: retryAfterMs(cause) });
}
