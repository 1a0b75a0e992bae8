/**
 * The handler of job_citations: finds the passages of the cited source that speak to the claim and has them judged. The verdict is written by
 * the transaction that settles the row, which may close the whole analysis. No transaction is open while a model is asked; a crash in between
 * loses the answer and the claim is judged again. With the signal it stops asking at once.
 */
import type pg from 'pg';
import { cleanText } from '../db/text.js';
import { LeaseLostError } from '../lease/errors.js';
import type { Handler, Lease } from '../lease/handler.js';
import type { Judge, Judgement } from './judge/judge.js';
import type { Retrieval } from './retrieval/retrieval.js';

export function createCitationHandler({ retrieval, judge }: { retrieval: Retrieval; judge: Judge }): Handler {
  return async (lease, work) => {
    const documentId = lease.row.document_id as string | null;
    if (documentId === null) return { succeed: true, set: { verdict: 'source_missing', confidence: 1, evidence: '[]', reason: 'document_erased' } };
    const claim = await readClaim(work.pool, lease);
    const passages = await retrieval.passagesFor({ userId: lease.row.user_id as string, sessionId: lease.row.session_id as string, documentId, claim }, work.signal);
    const judgement = await judge.judge(claim, passages, work.signal);
    return { succeed: true, set: { ...columnsOf(judgement), judge: judge.label } };
  };
}

async function readClaim(pool: pg.Pool, lease: Lease): Promise<{ text: string; mark: string }> {
  const { rows } = await pool.query<{ text: string; mark: string }>({
    text: `select claim as text, mark from job_citations where id = $1 and state = 'running' and lease_token = $2`,
    values: [lease.id, lease.token],
  });
  if (!rows[0]) throw new LeaseLostError(lease.queue, lease.id, lease.token, 'the row is not held under this token');
  return rows[0];
}

function columnsOf({ verdict, confidence, evidence, rationale, downgraded }: Judgement): Record<string, unknown> {
  const places = evidence.map(({ documentId, page, charFrom, charTo, quote }) => ({ documentId, page, charFrom, charTo, quote: cleanText(quote) }));
  return { verdict, confidence, evidence: JSON.stringify(places), rationale: rationale === undefined ? null : cleanText(rationale), downgraded: downgraded ?? null };
}
