/**
 * The handler of analysis_jobs: reads the thesis's citations and makes a row of each, in the transaction in which the analysis begins to await
 * them. A crash before that commit leaves the analysis as it was; after it, nothing depends on this process any more. Uploads of the session
 * that are still being parsed are waited for, so that none of them is called missing; which documents were there is pinned on the row.
 */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { kick } from '../bus/kick.js';
import { cleanText } from '../db/text.js';
import { enqueueAll } from '../lease/enqueue.js';
import { PermanentError } from '../lease/errors.js';
import type { Handler, Lease } from '../lease/handler.js';
import { jobCitations } from '../lease/queues.js';
import type { SessionKey } from '../sources/source-chunks.js';
import type { FoundCitation } from './read-thesis.js';
import { readInThread } from './thesis-reader.js';
import { readCandidates, readThesisText, uploadsOpen } from './thesis-source.js';

export interface AnalysisOptions {
  /** Label of the judge that will check what is found. */
  judge: string;
  maxAttempts: number;
  kickChannel: string;
}

/** A parse job that ends wakes the analysis; this is for one whose end was missed (ms). */
const LOOK_AGAIN_MS = 5_000;
/** Longer claims are no sentences; the offsets still tell the whole of it. */
const MAX_CLAIM_CHARS = 4_000;

export function createAnalysisHandler(options: AnalysisOptions): Handler {
  return async (lease, work) => {
    const session = sessionOf(lease);
    if (await uploadsOpen(work.pool, session)) return { wait: LOOK_AGAIN_MS };
    const thesisId = lease.row.thesis_document_id as string | null;
    const thesis = thesisId === null ? undefined : await readThesisText(work.pool, session.userId, thesisId);
    if (!thesis || thesisId === null) throw new PermanentError('thesis_erased', 'The thesis is not stored any more. Upload it again and start a new analysis.');
    const sources = await readCandidates(work.pool, session, thesisId);
    const { citations, reading } = await readInThread({ ...thesis, sources }, work.signal);
    const rows = citations.map((citation, ordinal) => rowOf(citation, ordinal, lease, session, options));
    const missing = rows.filter((row) => row.state === 'succeeded').length;
    return {
      succeed: true,
      await: rows.length - missing,
      apply: (tx) => makeCitations(tx, lease, rows, options),
      set: {
        total_children: rows.length, succeeded_children: missing, claims_total: reading.claims, marks_seen: reading.marks.seen, marks_resolved: reading.marks.resolved,
        reading: JSON.stringify(reading), pinned_documents: sources.map(({ id }) => id), judge: options.judge,
      },
    };
  };
}

function sessionOf({ row }: Lease): SessionKey {
  return { userId: row.user_id as string, sessionId: row.session_id as string };
}

/** A citation without a document needs no judge: that its source is missing is known here, and its row comes in ended. */
function rowOf(citation: FoundCitation, ordinal: number, lease: Lease, session: SessionKey, { maxAttempts }: AnalysisOptions) {
  const missing = citation.documentId === null;
  return {
    id: uuidv7(), state: missing ? 'succeeded' : 'queued', job_id: lease.id, user_id: session.userId, session_id: session.sessionId, max_attempts: maxAttempts, ordinal,
    claim: cleanText(citation.claim.slice(0, MAX_CLAIM_CHARS)), mark: cleanText(citation.mark.slice(0, MAX_CLAIM_CHARS)), locator: citation.locator && cleanText(citation.locator),
    page: citation.page, char_from: citation.charFrom, char_to: citation.charTo, entry: citation.entry && cleanText(citation.entry), reason: citation.reason,
    document_id: citation.documentId, verdict: missing ? 'source_missing' : null, confidence: missing ? 1 : null, evidence: missing ? [] : null,
  };
}

/** An analysis that an operator starts again begins afresh. */
async function makeCitations(tx: pg.PoolClient, lease: Lease, rows: ReturnType<typeof rowOf>[], { kickChannel }: AnalysisOptions): Promise<void> {
  await tx.query('delete from job_citations where job_id = $1', [lease.id]);
  await enqueueAll(tx, jobCitations, rows);
  await kick(tx, { kickChannel }, { q: jobCitations.table });
}
