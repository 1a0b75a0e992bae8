/**
 * What we ask of the orchestrator. Every call has a time limit, heeds the caller's signal, and is tried again where that can help: all three
 * calls are idempotent (a build by its Idempotency-Key, the others by their nature), so an answer that was lost is simply asked for again.
 * Throws: OutsideError when it is down or overloaded, PermanentError when it refuses, BuildUnknownError when it does not know the build.
 */
import { z } from 'zod';
import { OutsideError, PermanentError } from '../lease/errors.js';
import { cleanText } from '../db/text.js';
import { request, type Answer } from './orchestrator-request.js';

export interface BuildOrder {
  deploymentId: string;
  projectId: string;
  slug: string;
  /** publish_no: which publish of this app, and what the orchestrator fences by. */
  publishNo: number;
}

export interface BuildState {
  state: 'building' | 'released' | 'failed';
  releaseId: string | null;
  url: string | null;
  error: string | null;
}

export interface Orchestrator {
  /** The same order always answers the same build. @throws PermanentError `superseded` when it has seen a higher fence for this deployment. */
  createBuild(order: BuildOrder, signal: AbortSignal): Promise<string>;
  readBuild(buildId: string, signal: AbortSignal): Promise<BuildState>;
  /** Asks it to end; it has ended when its state says so. */
  cancelBuild(buildId: string, signal: AbortSignal): Promise<void>;
}

/** The orchestrator has forgotten this build, or never had it. */
export class BuildUnknownError extends Error {}

export interface OrchestratorOptions {
  url: string;
  token: string | undefined;
  /** One try (ms), the answer's body included. */
  timeoutMs?: number;
  tries?: number;
  /** First pause between two tries (ms); doubles, with jitter. */
  pauseMs?: number;
}

const created = z.object({ buildId: z.string().min(1).max(200) });
const build = z.object({
  state: z.enum(['building', 'released', 'failed']),
  releaseId: z.string().max(200).nullish(), url: z.string().max(2000).nullish(), error: z.string().nullish(),
});
/** An error of a build is shown to people. */
const MAX_ERROR_CHARS = 1_000;

export function createOrchestrator(options: OrchestratorOptions): Orchestrator {
  const ask = (method: 'GET' | 'POST', path: string, signal: AbortSignal, more: { body?: unknown; headers?: Record<string, string> } = {}) =>
    request({ timeoutMs: 10_000, tries: 4, pauseMs: 250, ...options }, { method, path, signal, ...more });
  return {
    async createBuild({ deploymentId, projectId, slug, publishNo }, signal) {
      const answer = await ask('POST', '/builds', signal, {
        body: { deploymentId, projectId, slug, attempt: publishNo, fence: publishNo },
        headers: { 'Idempotency-Key': `${deploymentId}:${publishNo}` },
      });
      if (answer.status === 409) throw new PermanentError('superseded', 'The hosting refused this publish because it has seen a newer one of the same app.');
      return read(created, accepted(answer)).buildId;
    },
    async readBuild(buildId, signal) {
      const found = read(build, accepted(await ask('GET', `/builds/${encodeURIComponent(buildId)}`, signal), buildId));
      return { state: found.state, releaseId: cleaned(found.releaseId), url: cleaned(found.url), error: cleaned(found.error?.slice(0, MAX_ERROR_CHARS)) };
    },
    async cancelBuild(buildId, signal) {
      accepted(await ask('POST', `/builds/${encodeURIComponent(buildId)}/cancel`, signal), buildId);
    },
  };
}

function cleaned(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : cleanText(text);
}

function accepted(answer: Answer, buildId?: string): Answer {
  if (answer.status < 300) return answer;
  if (answer.status === 404 && buildId !== undefined) throw new BuildUnknownError(`The orchestrator does not know the build ${buildId}.`);
  throw new PermanentError('orchestrator_refused', `The orchestrator refused the request (${answer.status}): ${cleanText(answer.text.slice(0, 300)) || 'it did not say why'}`, { cause: new Error(`It answered ${answer.status}.`) });
}

/** An answer that cannot be read is an outage of theirs, not a fault of the app that is published. */
function read<T>(schema: z.ZodType<T>, answer: Answer): T {
  const parsed = schema.safeParse(jsonOf(answer.text));
  if (parsed.success) return parsed.data;
  throw new OutsideError('orchestrator_unavailable', `The orchestrator answered something that is not what was agreed (${answer.status}).`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
