/**
 * The handler of parse_jobs, run when all items have ended: embeds what lacks an embedding, batch by batch, and links the documents again
 * in case a link was lost, and wakes the analyses that wait for them. Each batch is a short transaction of its own under the lease, so a crash loses one batch of vectors at most,
 * and the next holder goes on behind it. No transaction is open while an embedding service is asked.
 */
import type pg from 'pg';
import { inTransaction } from '../db/connection.js';
import { fence } from '../lease/fence.js';
import type { Embedder } from '../sources/embedder.js';
import { countPending, readPending, storeEmbeddings, type PendingChunk } from '../sources/embeddings.js';
import { linkSource } from '../sources/session-sources.js';
import { wakeAnalyses } from '../sources/waiting-analyses.js';
import type { Handler, Lease, Work } from '../lease/handler.js';

/** One statement of a batch may take this long (ms). */
const BATCH_TIMEOUT_MS = 10_000;

/** Without `kickChannel` nobody is woken; whoever waits looks by itself. */
export function createParseJobHandler(options: { embedder: Embedder; kickChannel?: string }): Handler {
  return async (lease, work) => {
    const documentIds = await documentsOf(work.pool, lease.id);
    await embedPending(documentIds, lease, work, options.embedder);
    return { succeed: true, apply: (tx) => relink(tx, lease.id, documentIds, options.kickChannel) };
  };
}

async function documentsOf(pool: pg.Pool, jobId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    text: 'select distinct document_id as id from parse_items where job_id = $1 and document_id is not null',
    values: [jobId],
  });
  return rows.map((row) => row.id);
}

async function embedPending(documentIds: string[], lease: Lease, work: Work, embedder: Embedder): Promise<void> {
  const total = await countPending(work.pool, documentIds, embedder.model);
  let done = 0;
  let after: PendingChunk | undefined;
  for (;;) {
    const chunks = await readPending(work.pool, documentIds, embedder.model, embedder.batchSize, after);
    after = chunks.at(-1);
    if (!after) return;
    const vectors = await embedder.embed(chunks.map((chunk) => chunk.body), work.signal);
    await inTransaction(work.pool, async (tx) => {
      await fence(tx, lease);
      await storeEmbeddings(tx, chunks, vectors, embedder.model);
    }, { timeoutMs: BATCH_TIMEOUT_MS });
    done += chunks.length;
    work.progress(done, Math.max(total, done));
  }
}

async function relink(tx: pg.PoolClient, jobId: string, documentIds: string[], kickChannel: string | undefined): Promise<void> {
  const { rows } = await tx.query<{ userId: string; sessionId: string }>({
    text: 'select user_id as "userId", session_id as "sessionId" from parse_jobs where id = $1',
    values: [jobId],
  });
  if (!rows[0]) return;
  await linkSource(tx, { ...rows[0], documentIds, linkedBy: 'parse_job', parseJobId: jobId });
  await wakeAnalyses(tx, rows[0], kickChannel);
}
