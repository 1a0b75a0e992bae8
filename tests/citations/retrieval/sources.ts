import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

export interface Db {
  query(statement: { text: string; values: unknown[] }): Promise<{ rows: any[] }>;
}

export interface SourceOptions {
  userId?: string;
  sessionId?: string;
  /** Default: linked. */
  linked?: boolean;
  /** One vector a chunk. */
  vectors?: (number[] | null)[];
  model?: string;
}

/** A document with these chunks, linked to the session. */
export async function addSource(db: Db, bodies: readonly string[], { userId = 'anna', sessionId = 's1', linked = true, vectors, model = 'm' }: SourceOptions = {}): Promise<string> {
  const id = uuidv7();
  await db.query({
    text: `insert into documents (id, user_id, content_sha256, filename, byte_size, page_count, letters, quality) values ($1, $2, $3, 'paper.pdf', 10, 9, 100, 'good')`,
    values: [id, userId, randomBytes(32)],
  });
  let at = 0;
  for (const [ordinal, body] of bodies.entries()) {
    const vector = vectors?.[ordinal];
    await db.query({
      text: `insert into document_chunks (document_id, ordinal, page_from, page_to, char_from, char_to, body, embedding, embedding_model) values ($1, $2, 1, 1, $3, $4, $5, $6::real[], $7)`,
      values: [id, ordinal, at, at + body.length, body, vector ? `{${vector.join(',')}}` : null, vector ? model : null],
    });
    at += body.length + 1;
  }
  if (linked) await link(db, id, userId, sessionId);
  return id;
}

export async function link(db: Db, documentId: string, userId: string, sessionId: string): Promise<void> {
  await db.query({ text: `insert into session_sources (user_id, session_id, document_id, linked_by) values ($1, $2, $3, 'upload')`, values: [userId, sessionId, documentId] });
}
