/**
 * POST /api/projects/:projectId/publish. Its answers are read by people and by agents: each says what is true and what to do next, so that a
 * loser of the race waits instead of "repairing" an app that nothing is wrong with. Nothing here calls the orchestrator.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import { errorCode } from '../db/connection-errors.js';
import { cleanText } from '../db/text.js';
import type { Lock, LockHolder } from '../deployments/lock.js';
import { publish, type Published, type PublishDesk } from '../deployments/publish.js';
import type { PublishRequest } from '../deployments/publish-request.js';
import { readSlug } from '../deployments/slug.js';
import { earlierAnswer, keepAnswer, type IdempotentRequest } from './idempotency.js';
import { Problem } from './problem.js';

export interface PublishAnswer {
  deploymentId: string;
  attempt: number;
}

/** Where publishes go; undefined where no orchestrator is configured. */
export type Publishing = PublishDesk | undefined;

export interface PublishCall {
  projectId: string;
  body: unknown;
  caller: { tokenId: string };
  key: string | undefined;
}

/** Throws Problems. `replayed`: the answer was given before, for the same Idempotency-Key. */
export async function answerPublish(publishing: Publishing, call: PublishCall): Promise<{ body: PublishAnswer; replayed: boolean }> {
  if (!publishing) throw new Problem(503, 'publish_not_configured', 'Publishing is not set up here: no orchestrator is configured. Nothing is wrong with the app; an operator has to set ORCHESTRATOR_URL.');
  const request = readRequest(call);
  try {
    const published = await publish<PublishAnswer>(publishing, request, aroundOf(call, request));
    if (published.kind === 'replayed') return { body: published.answer, replayed: true };
    if (published.kind === 'accepted') return { body: answerOf(published.lock), replayed: false };
    throw refusal(published, request);
  } catch (error) {
    throw errorCode(error) === '55P03' ? busy(error) : error;
  }
}

const text = (max: number) => z.string().transform((value) => cleanText(value).trim()).pipe(z.string().min(1).max(max));
const bodySchema = z.object({ userId: text(200), slug: z.string().max(1000), requestedBy: z.enum(['button', 'tab', 'agent']), source: text(200).nullish() });

function readRequest({ projectId, body }: PublishCall): PublishRequest {
  const project = text(200).safeParse(projectId);
  const read = bodySchema.safeParse(body);
  if (!project.success) throw invalid('the project id in the path must have 1 to 200 characters');
  if (!read.success) throw invalid(read.error.issues.map((issue) => `${issue.path.join('.') || 'the body'}: ${issue.message}`).join('; '));
  const name = readSlug(read.data.slug);
  if ('refused' in name) throw invalidSlug(name);
  return { projectId: project.data, slug: name.slug, userId: read.data.userId, requestedBy: read.data.requestedBy, source: read.data.source ?? null };
}

function invalid(why: string): Problem {
  return new Problem(400, 'invalid_publish', `This request could not be read: ${why}. Send JSON with userId, slug, requestedBy ("button", "tab" or "agent") and, if you like, source.`);
}

function invalidSlug({ refused, why }: { refused: string; why: string }): Problem {
  return new Problem(422, 'invalid_slug', `This name cannot be used: ${why}. Nothing was published; choose another name and publish again.`, { extra: { reason: refused } });
}

function aroundOf(call: PublishCall, request: PublishRequest) {
  const idempotent: IdempotentRequest | undefined = call.key === undefined ? undefined : {
    tokenId: call.caller.tokenId, path: `/api/projects/${request.projectId}/publish`, key: call.key,
    bodySha256: createHash('sha256').update(JSON.stringify([request.userId, request.slug, request.requestedBy, request.source])).digest(),
  };
  return {
    before: async (tx: pg.PoolClient) => idempotent && ((await earlierAnswer(tx, idempotent))?.response as PublishAnswer | undefined),
    accepted: async (tx: pg.PoolClient, lock: Lock) => {
      if (idempotent) await keepAnswer(tx, idempotent, { status: 202, response: answerOf(lock) });
    },
  };
}

function answerOf({ deploymentId, publishNo }: Lock): PublishAnswer {
  return { deploymentId, attempt: publishNo };
}

function refusal(published: Exclude<Published, { kind: 'accepted' }>, request: PublishRequest): Problem {
  switch (published.kind) {
    case 'in_progress': return inProgress(published.holder);
    case 'slug_taken': return new Problem(409, 'slug_taken', `The name “${request.slug}” is not available. Nothing was published and nothing of your app was changed; choose another name and publish again.`);
    case 'slug_fixed': return new Problem(422, 'slug_fixed', `The name of an app is fixed by its first publish; this one is called “${published.slug}”. Publish again with that name.`, { extra: { slug: published.slug } });
    case 'paused': return new Problem(503, 'queue_paused', `Publishing is paused by an operator (${published.reason}). Nothing is wrong with the app and nothing was changed; publish again when it is resumed.`, { headers: { 'Retry-After': '60' } });
  }
}

/** Seconds: a publish that is polled for more often than this gains nothing. */
const LOOK_AGAIN = '5';

function inProgress(holder: LockHolder): Problem {
  const { deploymentId, publishNo, requestedBy, worker, since, lastBeat, reclaimableAt } = holder;
  const follow = `/api/deployments/${deploymentId}/attempts/${publishNo}`;
  return new Problem(409, 'publish_in_progress',
    `This app is being published already: attempt ${publishNo}, asked for by ${asker(requestedBy)} at ${since}, last heard of at ${lastBeat}. `
    + 'Nothing is wrong: the name is yours and the app needs no repair. Wait for it and change nothing: do not rename the app, edit it, or publish it again meanwhile. '
    + `Follow that attempt with GET ${follow} until its state is live or failed. Should nothing more be heard of it, a new publish is accepted from ${reclaimableAt} on.`,
    {
      headers: { 'Retry-After': LOOK_AGAIN, Location: follow },
      extra: { deploymentId, attempt: publishNo, holder: { requestedBy, worker }, since, lastBeat, reclaimableAt },
    });
}

function asker(requestedBy: string): string {
  return { button: 'the publish button', tab: 'another tab', agent: 'an agent' }[requestedBy] ?? requestedBy;
}

function busy(cause: unknown): Problem {
  return new Problem(503, 'publish_busy', 'The state of this app could not be read in time. Nothing was published; send the request again in a few seconds.', { headers: { 'Retry-After': '5' }, cause });
}
