/**
 * Reads of the chunks that a session's sources have. Every statement goes through the link and the document, and names the user on both:
 * what is not linked in this session or not this user's cannot be read here.
 */
import type pg from 'pg';
import type { ChunkKey } from './embeddings.js';

type Db = Pick<pg.Pool, 'query'>;

export interface SessionKey {
  userId: string;
  sessionId: string;
}

/** What a session has just now. Documents never change, so the set of them is the version of their text. */
export interface SourceState {
  documents: { documentId: string; chunks: number; /** By the model's name. */ embedded: Record<string, number> }[];
}

export interface SourceChunk extends ChunkKey {
  pageFrom: number;
  pageTo: number;
  charFrom: number;
  charTo: number;
  body: string;
  /** Where its pages begin in the document's text, from `pageFrom` to `pageTo`; null in documents from before that was kept. */
  pageStarts: number[] | null;
}

/** $1 user, $2 session. */
const OWN = `session_sources s join documents d on d.id = s.document_id and d.user_id = s.user_id join document_chunks c on c.document_id = d.id
             where s.user_id = $1 and s.session_id = $2 and d.user_id = $1`;

export async function readSourceState(db: Db, { userId, sessionId }: SessionKey): Promise<SourceState> {
  const { rows } = await db.query<{ documentId: string; model: string | null; chunks: number }>({
    text: `select c.document_id as "documentId", c.embedding_model as model, count(*)::int as chunks from ${OWN} group by 1, 2 order by 1, 2`,
    values: [userId, sessionId],
  });
  const documents = new Map<string, SourceState['documents'][number]>();
  for (const { documentId, model, chunks } of rows) {
    const document = documents.get(documentId) ?? { documentId, chunks: 0, embedded: {} };
    document.chunks += chunks;
    if (model !== null) document.embedded[model] = chunks;
    documents.set(documentId, document);
  }
  return { documents: [...documents.values()] };
}

/** The next chunks after `after`, in key order. */
export async function readChunksAfter(db: Db, { userId, sessionId }: SessionKey, after: ChunkKey | undefined, limit: number): Promise<(ChunkKey & { body: string })[]> {
  const { rows } = await db.query<ChunkKey & { body: string }>({
    text: `select c.document_id as "documentId", c.ordinal, c.body from ${OWN}
             and ($3::uuid is null or (c.document_id, c.ordinal) > ($3::uuid, $4::int))
           order by c.document_id, c.ordinal limit $5`,
    values: [userId, sessionId, after?.documentId, after?.ordinal, limit],
  });
  return rows;
}

/** These chunks, as far as they are still the session's; in key order. */
export async function readChunks(db: Db, { userId, sessionId }: SessionKey, keys: readonly ChunkKey[]): Promise<SourceChunk[]> {
  const { rows } = await db.query<SourceChunk>({
    text: `select c.document_id as "documentId", c.ordinal, c.page_from as "pageFrom", c.page_to as "pageTo", c.char_from as "charFrom", c.char_to as "charTo", c.body,
             d.page_starts[c.page_from:c.page_to] as "pageStarts"
           from ${OWN} and (c.document_id, c.ordinal) in (select * from unnest($3::uuid[], $4::int[]))
           order by c.document_id, c.ordinal`,
    values: [userId, sessionId, keys.map((key) => key.documentId), keys.map((key) => key.ordinal)],
  });
  return rows;
}
