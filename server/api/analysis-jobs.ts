/**
 * POST /api/analysis-jobs. Decided under the user's lock, in the transaction that inserts: of two that ask at once for the same thesis one gets
 * the job, the other its id. Uploads of the session may still be parsed; the analysis awaits them.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { errorCode } from '../db/connection-errors.js';
import { enqueue } from '../lease/enqueue.js';
import { analysisJobs } from '../lease/queues.js';
import { earlierAnswer, keepAnswer, type IdempotentRequest } from './idempotency.js';
import { documentNotFound, isUuid, readId } from './ids.js';
import { Problem } from './problem.js';
import { withUserLock } from './user-lock.js';

export interface AnalysisDesk {
  pool: pg.Pool;
  maxAttempts: number;
  kickChannel: string;
}

export interface AnalysisCall {
  body: unknown;
  caller: { tokenId: string };
  key: string | undefined;
}

interface AnalysisRequest {
  userId: string;
  sessionId: string;
  thesisId: string;
}

interface Started {
  body: { jobId: string };
  replayed: boolean;
}

export async function startAnalysis(desk: AnalysisDesk, call: AnalysisCall): Promise<Started> {
  const request = readRequest(call.body);
  const idempotent = idempotentOf(call, request);
  try {
    return await withUserLock<Started>(desk.pool, request.userId, async (tx) => {
      const body = { jobId: await insertAnalysis(tx, desk, request) };
      if (idempotent) await keepAnswer(tx, idempotent, { status: 202, response: body });
      return { body, replayed: false };
    }, idempotent && (async (tx) => {
      const earlier = await earlierAnswer(tx, idempotent);
      return earlier && { body: earlier.response as Started['body'], replayed: true };
    }));
  } catch (error) {
    // Someone who does not take the user's lock was faster: an operator who started a failed analysis again.
    if (errorCode(error) !== '23505') throw error;
    const open = await openAnalysis(desk.pool, request);
    throw open ? inProgress(open) : error;
  }
}

function readRequest(body: unknown): AnalysisRequest {
  const { userId, sessionId, thesisDocumentId } = (body ?? {}) as Record<string, unknown>;
  return { userId: readId(userId, 'userId'), sessionId: readId(sessionId, 'sessionId'), thesisId: readId(thesisDocumentId, 'thesisDocumentId') };
}

function idempotentOf({ caller, key }: AnalysisCall, { userId, sessionId, thesisId }: AnalysisRequest): IdempotentRequest | undefined {
  const bodySha256 = createHash('sha256').update(JSON.stringify([userId, sessionId, thesisId])).digest();
  return key === undefined ? undefined : { tokenId: caller.tokenId, path: '/api/analysis-jobs', key, bodySha256 };
}

async function insertAnalysis(tx: pg.PoolClient, desk: AnalysisDesk, request: AnalysisRequest): Promise<string> {
  const { userId, sessionId, thesisId } = request;
  if (!isUuid(thesisId) || !(await hasDocument(tx, userId, thesisId))) throw documentNotFound();
  const open = await openAnalysis(tx, request);
  if (open) throw inProgress(open);
  if (!(await hasSources(tx, request))) throw sourcesUnavailable();
  const id = uuidv7();
  await enqueue(tx, analysisJobs, { id, maxAttempts: desk.maxAttempts, columns: { user_id: userId, session_id: sessionId, thesis_document_id: thesisId } }, desk);
  return id;
}

/** Held against erasure until the end of the transaction. */
async function hasDocument(tx: pg.PoolClient, userId: string, documentId: string): Promise<boolean> {
  const { rowCount } = await tx.query('select 1 from documents where id = $1 and user_id = $2 for key share', [documentId, userId]);
  return rowCount === 1;
}

async function openAnalysis(db: Pick<pg.Pool, 'query'>, { userId, sessionId, thesisId }: AnalysisRequest): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(
    `select id from analysis_jobs where user_id = $1 and session_id = $2 and thesis_document_id = $3 and state in ('awaiting', 'queued', 'running')`, [userId, sessionId, thesisId]);
  return rows[0]?.id;
}

/** Something is linked, is being parsed, or was uploaded and could not be read: only a session that never had anything, or whose user reset it, has none. */
async function hasSources(tx: pg.PoolClient, { userId, sessionId }: AnalysisRequest): Promise<boolean> {
  const { rows } = await tx.query<{ has: boolean }>(
    `select exists (select 1 from session_sources where user_id = $1 and session_id = $2)
         or exists (select 1 from parse_jobs where user_id = $1 and session_id = $2 and state in ('awaiting', 'queued', 'running'))
         or (exists (select 1 from parse_items where user_id = $1 and session_id = $2)
             and not exists (select 1 from parse_items where user_id = $1 and session_id = $2 and state = 'succeeded')) as has`, [userId, sessionId]);
  return rows[0]!.has;
}

function inProgress(jobId: string): Problem {
  return new Problem(409, 'analysis_in_progress', `This thesis is being analysed for this session already. Nothing was started; wait for that one: GET /api/analysis-jobs/${jobId}.`, { extra: { jobId } });
}

function sourcesUnavailable(): Problem {
  return new Problem(409, 'sources_unavailable', 'This session has no sources: none was ever uploaded to it, or its user has reset them. Nothing was started; upload sources with POST /api/parse-sources or link parsed documents with POST /api/resolve-sources, then ask again.');
}
