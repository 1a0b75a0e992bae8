/**
 * The handler of parse_items: one upload becomes one document with its chunks, linked to the session, in the transaction that settles
 * the row and erases its bytes. A crash anywhere before that commit leaves the row with its bytes, for the next holder.
 */
import type pg from 'pg';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LeaseLostError } from '../lease/errors.js';
import { findDocument, persistDocument, type DocumentFacts, type NewDocument } from '../sources/documents.js';
import { linkSource } from '../sources/session-sources.js';
import type { Handler, Lease, Work } from '../lease/handler.js';
import { chunkDocument, pageStarts, type Chunk } from './chunks.js';
import { extractPdf } from './extract.js';
import type { ExtractLimits } from './extraction.js';
import { readStagedBytes } from './staged-bytes.js';

interface Item {
  userId: string;
  sessionId: string;
  filename: string;
  byteSize: number;
  contentSha256: Buffer;
}

/** Passages cut before the event loop gets its turn: about a millisecond. */
const CHUNKS_A_TURN = 50;

/** `limits` bound each file's parser process. */
export function createParseItemHandler(options: { limits: ExtractLimits }): Handler {
  return async (lease, work) => {
    const item = await readItem(work.pool, lease);
    const known = await findDocument(work.pool, item);
    if (known?.quality === 'good') return { succeed: true, apply: (tx) => reuse(tx, lease, item) };
    const document = await extract(item, lease, work, options.limits);
    return { succeed: true, apply: async (tx) => record(tx, lease, item, await persistDocument(tx, document)) };
  };
}

async function readItem(pool: pg.Pool, lease: Lease): Promise<Item> {
  const { rows } = await pool.query<Item>({
    text: `select user_id as "userId", session_id as "sessionId", filename, byte_size::float8 as "byteSize", content_sha256 as "contentSha256"
           from parse_items where id = $1 and state = 'running' and lease_token = $2`,
    values: [lease.id, lease.token],
  });
  if (!rows[0]) throw new LeaseLostError(lease.queue, lease.id, lease.token, 'the row is not held under this token');
  return rows[0];
}

async function extract(item: Item, lease: Lease, work: Work, limits: ExtractLimits): Promise<NewDocument> {
  const { userId, contentSha256, filename, byteSize } = item;
  const bytes = readStagedBytes(work.pool, lease);
  const extraction = await extractPdf(bytes, { signal: work.signal, limits, onPage: work.progress });
  const pages = extraction.pages.map((page) => page.text);
  const chunks = await inTurns(chunkDocument(pages));
  const { quality, failedPages, letters } = extraction;
  return { userId, contentSha256, filename, byteSize, pageCount: pages.length, failedPages, letters, quality, pageStarts: pageStarts(pages), chunks };
}

async function inTurns(source: Iterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for (const chunk of source) {
    chunks.push(chunk);
    if (chunks.length % CHUNKS_A_TURN === 0) await nextTurn();
  }
  return chunks;
}

/** The user uploaded the same file again: the same bytes give the same text. */
async function reuse(tx: pg.PoolClient, lease: Lease, item: Item): Promise<void> {
  const document = await findDocument(tx, item, { keep: true });
  // Erased since we looked. The next try finds none and reads the file.
  if (!document) throw new Error('The document that was to be reused is gone');
  await record(tx, lease, item, document);
}

async function record(tx: pg.PoolClient, lease: Lease, item: Item, document: DocumentFacts): Promise<void> {
  await linkSource(tx, { userId: item.userId, sessionId: item.sessionId, documentIds: [document.documentId], linkedBy: 'parse_item', parseJobId: lease.row.job_id as string });
  await tx.query({
    text: `update parse_items set document_id = $3, page_count = $4, chunk_count = $5, failed_pages = $6, quality = $7
           where id = $1 and state = 'running' and lease_token = $2`,
    values: [lease.id, lease.token, document.documentId, document.pageCount, document.chunkCount, document.failedPages, document.quality],
  });
}
