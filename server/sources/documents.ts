/**
 * Documents and their chunks. A document is stored once a user and content, whoever stores it first; nothing here is ever updated in
 * place, so a crash leaves either the whole document or none.
 */
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';

type Db = Pick<pg.Pool, 'query'>;

export interface DocumentFacts {
  documentId: string;
  pageCount: number;
  chunkCount: number;
  /** 1-based. */
  failedPages: number[];
  quality: 'good' | 'partial' | 'garbled';
}

export interface NewDocument {
  userId: string;
  contentSha256: Buffer;
  filename: string;
  byteSize: number;
  pageCount: number;
  failedPages: number[];
  letters: number;
  quality: DocumentFacts['quality'];
  /** Offset of each page's first character in the text that the chunks' offsets count in. */
  pageStarts?: number[];
  chunks: readonly NewChunk[];
}

export interface NewChunk {
  ordinal: number;
  pageFrom: number;
  pageTo: number;
  charFrom: number;
  charTo: number;
  body: string;
}

/** Rows of one INSERT: about 1 MB of text. */
const INSERT_ROWS = 1000;

/** The user's document with this content, if there is one. Inside a transaction, `keep` holds it against erasure until the end. */
export async function findDocument(db: Db, key: { userId: string; contentSha256: Buffer }, options: { keep?: boolean } = {}): Promise<DocumentFacts | undefined> {
  const { rows } = await db.query<DocumentFacts>({
    text: `select id as "documentId", page_count as "pageCount", failed_pages as "failedPages", quality,
             (select count(*)::int from document_chunks where document_id = documents.id) as "chunkCount"
           from documents where user_id = $1 and content_sha256 = $2 ${options.keep ? 'for key share' : ''}`,
    values: [key.userId, key.contentSha256],
  });
  return rows[0];
}

/**
 * Stores a document with its chunks, or answers the one that the user already has with this content. Needs a transaction. Two callers
 * with the same content: the second waits for the first to commit and then answers the first one's document.
 */
export async function persistDocument(tx: pg.PoolClient, document: NewDocument): Promise<DocumentFacts> {
  const documentId = await insertDocument(tx, document);
  if (documentId === undefined) {
    // The holder of the key may have been erased between the two statements: then it is free now.
    return await findDocument(tx, document, { keep: true }) ?? persistDocument(tx, document);
  }
  for (let at = 0; at < document.chunks.length; at += INSERT_ROWS) {
    await insertChunks(tx, documentId, document.chunks.slice(at, at + INSERT_ROWS));
  }
  const { pageCount, failedPages, quality, chunks } = document;
  return { documentId, pageCount, failedPages, quality, chunkCount: chunks.length };
}

async function insertDocument(tx: pg.PoolClient, document: NewDocument): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>({
    text: `insert into documents (id, user_id, content_sha256, filename, byte_size, page_count, failed_pages, letters, quality, page_starts)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (user_id, content_sha256) do nothing returning id`,
    values: [uuidv7(), document.userId, document.contentSha256, document.filename, document.byteSize,
      document.pageCount, document.failedPages, document.letters, document.quality, document.pageStarts],
  });
  return rows[0]?.id;
}

async function insertChunks(tx: pg.PoolClient, documentId: string, chunks: readonly NewChunk[]): Promise<void> {
  await tx.query({
    text: `insert into document_chunks (document_id, ordinal, page_from, page_to, char_from, char_to, body)
           select $1, c.* from unnest($2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::text[]) as c`,
    values: [documentId, chunks.map((c) => c.ordinal), chunks.map((c) => c.pageFrom), chunks.map((c) => c.pageTo),
      chunks.map((c) => c.charFrom), chunks.map((c) => c.charTo), chunks.map((c) => c.body)],
  });
}
